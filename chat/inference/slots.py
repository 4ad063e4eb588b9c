"""Which tokens each slot's cache holds, and which slot suits a request best."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from chat.inference.config import FULL_PIECE
from chat.inference.parking import WORTHWHILE, Parking, common_prefix
from chat.inference.request import Request

# Behind 800 tokens 52 more took 1.2 times as long as the 65 that end there, behind 100 tokens 0.9 times.
_LONG, _NEARLY_FULL = 300, 48


@dataclass
class Slot:
    """One sequence of the cache. `tokens` is an exact shadow of what it holds; `key` says whose it is."""

    index: int
    tokens: list[int] = field(default_factory=list)
    key: str = ""
    request: Request | None = None
    last_used: int = 0

    def reusable(self, request: Request) -> int:
        """How many tokens at the beginning of the prompt are here and may be used by this request.

        Another conversation's text is never reused, not even where it is the same: how fast an answer begins would
        tell what somebody else has written. Only the part that is the same for everybody is.
        """
        common = common_prefix(self.tokens, request.prompt)
        return allowed(common, self.key, request)


def allowed(common: int, key: str, request: Request) -> int:
    """How many of `common` tokens a request may use of what `key` has read."""
    if key != request.cache_key or not key:
        common = min(common, request.num_shared)
    # The last token is always read again: its logits are what the reply begins from.
    return min(common, len(request.prompt) - 1)


class SlotTable:
    """All slots of a runner. `trim` is the runner's: it cuts a slot's cache and says what is left.

    With a `parking`, a conversation that loses its slot is copied there before, and comes back from there.
    """

    def __init__(self, count: int, trim: Callable[[int, int], int], parking: Parking | None = None) -> None:
        self._slots = [Slot(index) for index in range(count)]
        self._trim = trim
        self._parking = parking
        self._clock = itertools.count(1)

    def __iter__(self) -> "itertools.chain[Slot]":
        return itertools.chain(self._slots)

    def __getitem__(self, index: int) -> Slot:
        return self._slots[index]

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def num_free(self) -> int:
        """Slots that no request holds."""
        return sum(slot.request is None for slot in self._slots)

    def take(self, request: Request) -> Slot | None:
        """Give the request a slot, with as much of its prompt as is kept anywhere; None when all are taken."""
        free = [slot for slot in self._slots if slot.request is None]
        if not free:
            return None
        slot = self._best(free, request)
        self._change(slot, request)
        keep = self._rounded(slot.reusable(request), request)
        if keep < len(slot.tokens):
            keep = self._trim(slot.index, keep)
        slot.tokens = list(request.prompt[:keep])
        slot.key, slot.request, slot.last_used = request.cache_key, request, next(self._clock)
        request.slot, request.num_computed, request.num_cached = slot.index, keep, keep
        request.num_restored = min(request.num_restored, keep)
        return slot

    def borrow(self, request: Request) -> None:
        """Before a request reads its first token: copy what another slot has of its prompt, if that spares enough."""
        if not self._parking or request.slot is None:
            return
        slot = self._slots[request.slot]
        lender = max(self._slots, key=lambda other: other.reusable(request))
        gain = lender.reusable(request)
        if gain < request.num_cached + WORTHWHILE or (gain < len(lender.tokens) and not self._parking.can_trim):
            return
        slot.tokens = list(lender.tokens) if self._parking.copy(lender.index, slot.index, lender.tokens) else []
        keep = min(gain, len(slot.tokens))
        if keep < len(slot.tokens):
            keep = self._trim(slot.index, keep)
        slot.tokens = list(request.prompt[:keep])
        request.num_computed = request.num_cached = keep
        request.num_restored = 0

    def give_back(self, request: Request) -> None:
        """Free the request's slot; its tokens stay for the conversation's next turn, unless that was deleted."""
        if request.slot is not None:
            slot = self._slots[request.slot]
            slot.request, slot.last_used = None, next(self._clock)
            request.slot = None
            if request.is_forgotten:
                self.forget(slot.index)

    def give_up(self, request: Request) -> None:
        """A request ends that never had a slot."""
        if self._parking:
            self._parking.give_up(request)

    def record(self, index: int, held: int, tokens: Sequence[int]) -> None:
        """Its cache holds the first `held` of these tokens now; they go on from what it held before."""
        shadow = self._slots[index].tokens
        del shadow[held:]
        shadow.extend(tokens[len(shadow) : held])

    def forget(self, index: int) -> None:
        """Empty a slot's cache and its shadow."""
        self._trim(index, 0)
        self._slots[index].tokens = []
        self._slots[index].key = ""

    def park_all(self) -> None:
        """Copy what all slots hold, the one that was used last at the end; nothing is decoded afterwards."""
        if self._parking:
            self._parking.is_closing = True
            for slot in sorted(self._slots, key=lambda slot: slot.last_used):
                if len(slot.tokens) >= WORTHWHILE and not (slot.request and slot.request.is_forgotten):
                    self._parking.park(slot.index, slot.key, slot.tokens)

    def _best(self, free: list[Slot], request: Request) -> Slot:
        """The slot that holds this conversation, else one beside those at work, else the one unused for longest.

        Neighbours are decoded together (chat.inference.scheduler says why); what such a slot held can be parked.
        """
        own = [slot for slot in free if slot.key and slot.key == request.cache_key]
        best = max(own, key=lambda slot: (slot.reusable(request), slot.last_used), default=None)
        if best and (request.one_conversation or _is_alike(best, request)):
            return best
        at_work = {slot.index for slot in self._slots if slot.request} if self._parking else set()
        return min(free, key=lambda slot: (at_work.isdisjoint((slot.index - 1, slot.index + 1)), slot.last_used))

    def _change(self, slot: Slot, request: Request) -> None:
        """Park what the slot would lose, and put in what was parked of this request's conversation."""
        if not self._parking:
            return
        keep = slot.reusable(request)
        if keep < len(slot.tokens) and not self._parking.can_trim:
            keep = 0
        parked = self._parking.take(request, keep)
        lost = len(slot.tokens) - keep
        # Copying all of a long conversation for its last few words would cost more than to read these again.
        if self._is_left(slot, request) and lost >= max(WORTHWHILE, len(slot.tokens) // 16):
            self._parking.park(slot.index, slot.key, slot.tokens)
        if parked:
            request.num_restored = self._parking.usable(parked, request)
            slot.tokens, slot.key = self._parking.restore(parked, slot.index), request.cache_key

    def _rounded(self, keep: int, request: Request) -> int:
        """How much to keep of what is there: behind a long text a full piece is read faster than most of one."""
        left = len(request.prompt) - keep
        is_faster = keep >= _LONG and _NEARLY_FULL <= left < FULL_PIECE and self._parking and self._parking.can_trim
        return len(request.prompt) - FULL_PIECE if is_faster else keep

    @staticmethod
    def _is_left(slot: Slot, request: Request) -> bool:
        """Whether what a slot holds may go on elsewhere; what a conversation itself has left behind does not."""
        return slot.key != request.cache_key or not request.one_conversation


def _is_alike(slot: Slot, request: Request) -> bool:
    """Whether a slot holds this conversation, and not another one with the same beginning that may yet go on."""
    return 2 * slot.reusable(request) >= min(len(slot.tokens), len(request.prompt))
