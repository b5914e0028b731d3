"""The tables, in the order of the page. A new one is one class in one file, and one instance here."""

from benchmarks.table import Table
from benchmarks.tables.accountant import PrivacyAccountant
from benchmarks.tables.birkhoff import Birkhoff
from benchmarks.tables.constructors import Constructors
from benchmarks.tables.exact_rldp import ExactRldp
from benchmarks.tables.first import First
from benchmarks.tables.frontier import Frontier
from benchmarks.tables.full_lp import FullLp
from benchmarks.tables.kernels import Kernels
from benchmarks.tables.large import Large
from benchmarks.tables.limits import Limits
from benchmarks.tables.linear_loss import LinearLoss
from benchmarks.tables.metric import Metric
from benchmarks.tables.offdiagonal import OffDiagonal
from benchmarks.tables.peer_answers import PeerAnswers
from benchmarks.tables.peers import Peers
from benchmarks.tables.places import Places
from benchmarks.tables.release import Release
from benchmarks.tables.rivals import Rivals
from benchmarks.tables.rldp import Rldp
from benchmarks.tables.sampling import Sampling
from benchmarks.tables.ties import Ties

TABLES: tuple[Table, ...] = (
    First(),
    Frontier(),
    FullLp(),
    Large(),
    Ties(),
    Metric(),
    Places(),
    OffDiagonal(),
    Rldp(),
    ExactRldp(),
    LinearLoss(),
    Sampling(),
    Peers(),
    PeerAnswers(),
    Rivals(),
    Release(),
    PrivacyAccountant(),
    Birkhoff(),
    Limits(),
    Constructors(),
    Kernels(),
)
