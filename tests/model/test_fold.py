"""The view of sound and of broken trees, as the kernel defines it."""

from foldproof.model.fold import est, flatten, view
from foldproof.model.state import Memory, Message, Node, Origin, Role, State, Tree

U = [Message(i, Role.USER, Origin.USER, 2) for i in range(6)]


def memory(*covers: int) -> Memory:
    return Memory(1, covers)


def folded(*nodes: Node, start: int = 0, **tree: object) -> tuple[int | tuple[int, ...], ...]:
    s = State(history=tuple(U), tree=Tree(nodes=nodes, epoch_start_at=start, **tree))  # type: ignore[arg-type]
    return tuple(item.covers if isinstance(item, Memory) else item.id for item in view(s))


def test_an_open_node_folds_nothing() -> None:
    assert folded(Node(1)) == (0, 1, 2, 3, 4, 5)


def test_a_closed_span_shows_its_memory() -> None:
    assert folded(Node(1, 3, memory(1, 2, 3))) == (0, (1, 2, 3), 4, 5)


def test_only_the_outermost_of_nested_spans_is_shown() -> None:
    outer, inner = Node(0, 4, memory(0, 1, 2, 3, 4)), Node(1, 2, memory(1, 2))
    assert folded(outer, inner) == folded(inner, outer) == ((0, 1, 2, 3, 4), 5)


def test_the_epoch_starts_behind_its_memories() -> None:
    earlier = Node(0, 1, memory(0, 1))
    assert folded(earlier, start=2, state=memory(0, 1)) == ((0, 1), 2, 3, 4, 5)


def test_a_span_that_reaches_past_the_end_hides_the_rest() -> None:
    assert folded(Node(4, 9, memory(4, 5, 6))) == (0, 1, 2, 3, (4, 5, 6))


def test_spans_past_the_end_and_voided_ones_are_not_shown() -> None:
    assert folded(Node(6, 8, memory(6)), Node(-1, 3, memory(1))) == (0, 1, 2, 3, 4, 5)


def test_overlapping_spans_each_show_their_memory() -> None:
    assert folded(Node(0, 2, memory(0, 1, 2)), Node(1, 4, memory(1))) == ((0, 1, 2), (1,), 5)


def test_an_epoch_summary_that_is_stored_is_shown_at_the_head_and_skipped_in_place() -> None:
    assert folded(start=2, epoch_memory_at=4) == (4, 2, 3, 5)


def test_estimate_and_flatten() -> None:
    items = (memory(4, 5), U[1])
    assert est(items) == 3
    assert flatten(items) == (4, 5, 1)
