"""What a node loop remembers: which OOM kills have had their answer."""

import pytest
from argocd_fluid.controller.memory import Memory
from argocd_fluid.engine.model import Amounts, ContainerKey, Size

KEY = ContainerKey(namespace="ns", pod="p", uid="u", container="c")
SMALL = Size(memory=Amounts(request=1, limit=1))
LARGE = Size(memory=Amounts(request=2, limit=2))
NOW = 1000.4


@pytest.mark.parametrize(
    ("answers_kill", "killed_s", "answered"),
    [
        (True, 1000, True),
        # The kernel may have killed it right after an ordinary resize, in the same second.
        (False, 1000, False),
        (False, 999, True),
    ],
    ids=["the answer itself", "the second of another resize", "the second before it"],
)
def test_a_kill_is_answered_by_what_was_given_for_it(answers_kill, killed_s, answered) -> None:
    memory = Memory()
    memory.add_resize(KEY, before=SMALL, leaves=LARGE, now=NOW, answers_kill=answers_kill)
    assert (int(memory.memory_resized_s[KEY]) >= killed_s) is answered
