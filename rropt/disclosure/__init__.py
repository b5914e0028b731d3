"""Disclosure-risk measures of a sample whose key variables an intruder can match with a population."""

from rropt.disclosure.calibration import calibrate
from rropt.disclosure.keys import KeyTable
from rropt.disclosure.loglinear import fit_population
from rropt.disclosure.measures import DisclosureRisk
from rropt.disclosure.population import Population
from rropt.disclosure.release import MisclassifiedRisk

__all__ = ["DisclosureRisk", "KeyTable", "MisclassifiedRisk", "Population", "calibrate", "fit_population"]
