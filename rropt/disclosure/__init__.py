"""Disclosure-risk measures of a sample whose key variables an intruder can match with a population."""

from rropt.disclosure.calibration import calibrate
from rropt.disclosure.keys import KeyTable
from rropt.disclosure.loglinear import fit_population
from rropt.disclosure.measures import DisclosureRisk as DisclosureRisk
from rropt.disclosure.population import Population as Population
from rropt.disclosure.release import MisclassifiedRisk as MisclassifiedRisk

__all__ = ["KeyTable", "calibrate", "fit_population"]
