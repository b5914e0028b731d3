"""Disclosure-risk measures of a sample whose key variables an intruder can match with a population."""

from rropt.inference.disclosure.keys import KeyTable
from rropt.inference.disclosure.loglinear import fit_population
from rropt.inference.disclosure.measures import DisclosureRisk
from rropt.inference.disclosure.population import Population
from rropt.inference.disclosure.release import MisclassifiedRisk

__all__ = ["DisclosureRisk", "KeyTable", "MisclassifiedRisk", "Population", "fit_population"]
