"""Every class of the list, in its order."""

from tests.faults.fault_children import CHILDREN
from tests.faults.fault_commands import TYPED
from tests.faults.fault_company import COMPANY
from tests.faults.fault_damage import DAMAGE
from tests.faults.fault_errors import ERRORS
from tests.faults.fault_kills import KILLS
from tests.faults.fault_moments import MOMENTS
from tests.faults.fault_patches import PATCHES
from tests.faults.fault_power import POWER
from tests.faults.fault_signals import SIGNALS

CLASSES = (*KILLS, *SIGNALS, *ERRORS, *POWER, *COMPANY, *MOMENTS, *PATCHES, *DAMAGE, *CHILDREN, *TYPED)
