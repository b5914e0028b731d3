"""Disclosure-risk measures of a sample whose key variables an intruder can match with a population, and the formulas
of the bound on identity disclosure: psi (11), theta* (`closed_theta`), the ladder of bounds."""

from rropt.disclosure.calibration import calibrate
from rropt.disclosure.loglinear import fit_population
from rropt.disclosure.measures import DisclosureRisk as DisclosureRisk
from rropt.disclosure.population import Population as Population
from rropt.disclosure.quasi_identifiers import QuasiIdentifierTable
from rropt.disclosure.release import MisclassifiedRisk as MisclassifiedRisk
from rropt.disclosure.special_uniques import SpecialUniques as SpecialUniques, special_uniques
from rropt.mechanisms.families.block_choice import Rung as Rung, ladder
from rropt.model.identification import closed_theta, psi

__all__ = ["QuasiIdentifierTable", "calibrate", "closed_theta", "fit_population", "ladder", "psi", "special_uniques"]
