from argocd_fluid.kube.backoff import Backoff


def test_waits_double_up_to_the_cap_and_begin_anew() -> None:
    backoff = Backoff(1.0, 8.0, jitter=lambda: 1.0)
    assert [backoff.next_s() for _ in range(6)] == [1, 2, 4, 8, 8, 8]
    backoff.reset()
    assert backoff.next_s() == 1


def test_jitter_takes_at_most_half() -> None:
    assert Backoff(2.0, 8.0, jitter=lambda: 0.0).next_s() == 1.0


def test_a_thing_that_fails_for_ever_does_not_overflow() -> None:
    backoff = Backoff(1.0, 60.0, jitter=lambda: 1.0)
    assert [backoff.next_s() for _ in range(5000)][-1] == 60.0
