"""Every class of the list, in its order."""

from fault_children import CHILDREN
from fault_company import COMPANY
from fault_damage import DAMAGE
from fault_errors import ERRORS
from fault_kills import KILLS
from fault_moments import MOMENTS
from fault_patches import PATCHES
from fault_power import POWER
from fault_signals import SIGNALS

CLASSES = (*KILLS, *SIGNALS, *ERRORS, *POWER, *COMPANY, *MOMENTS, *PATCHES, *DAMAGE, *CHILDREN)
