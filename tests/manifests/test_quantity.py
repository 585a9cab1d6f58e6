"""Quantities mean what they mean to Kubernetes. Expectations were measured with kubectl 1.37."""

import pytest
from argocd_fluid.errors import QuantityError
from argocd_fluid.manifests.quantity import MAX_INT64, NANO, Format, Quantity, parse_quantity
from hypothesis import given
from hypothesis import strategies as st

CANONICAL = {
    "1": "1",
    "0": "0",
    "00012": "12",
    "0.1": "100m",
    "1.5": "1500m",
    "+.5": "500m",
    "-5": "-5",
    "5.": "5",
    "100n": "100n",
    "100u": "100u",
    "1n": "1n",
    "1k": "1k",
    "1500": "1500",
    "2000": "2k",
    "1E": "1E",
    "1E3": "1e3",
    "1E+3": "1e3",
    "1.5e3": "1500",
    "1e25": "10e24",
    "1e400": "10e399",
    "0e500": "0",
    "1e-400": "1e-9",
    "1Ki": "1Ki",
    "1024Ki": "1Mi",
    "1023Ki": "1023Ki",
    "1.5Ki": "1536",
    "0.5Ki": "512",
    "0.5Gi": "512Mi",
    "0.9Gi": "966367641600m",
    ".5Ei": "512Pi",
    "5.Ei": "5Ei",
    "12345678901234567890m": "12345678901234567890m",
    "9999999999999999999.5": "9999999999999999999500m",
    # Too fine: up, to a nano.
    "0.0000000001": "1n",
    "0.1n": "1n",
    "1.5n": "2n",
    "-0.1n": "-1n",
    # Capped, where the suffix is binary.
    "1000000Ei": "9223372036854775807",
    "-1000000Ei": "-9223372036854775807",
    "9223372036854775808": "9223372036854775808",
    # Trimmed.
    "1Gi ": "1Gi",
    " 1": "1",
    "1\xa0": "1",
    # Without digits: zero, as long as Go computes it in 64 bits.
    "Gi": "0",
    "Ti": "0",
    "m": "0",
    "E": "0",
    "+": "0",
    ".": "0",
    ".Gi": "0",
    # JSON numbers.
    1: "1",
    1.5: "1500m",
    1e21: "1e21",
    1e-7: "100e-9",
}

REFUSED = [
    "", "1K", "1Zi", "1Z", "1Y", "1e3Ki", "1E2Mi", "1 Gi", "1_000", "\uff11", "inf", "Infinity",
    "nan", "0x10", "1e", "e", "1e+", "1e+-3", "1e18m", "e-10", "Ei", "Pi", ".Ei", "..", "1.1.1",
    "1i", "5kk", "1\n", "1\t", "null", "1-5", True, False, None, [], "9" * 2000,
]  # fmt: skip


@pytest.mark.parametrize(("text", "canonical"), CANONICAL.items(), ids=map(repr, CANONICAL))
def test_means_what_it_means_to_kubernetes(text, canonical):
    assert str(parse_quantity(text)) == canonical


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: repr(text)[:20])
def test_refuses_what_kubernetes_refuses(text):
    with pytest.raises(QuantityError, match=r"quantity|suffix"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("text", "milli", "value"),
    [
        ("500m", 500, 1),
        ("1", 1000, 1),
        ("0.0001", 1, 1),
        ("1.0001", 1001, 2),
        ("-1.0001", -1001, -2),
        ("1Gi", 1000 << 30, 1 << 30),
        ("0", 0, 0),
    ],
)
def test_rounds_away_from_zero(text, milli, value):
    quantity = parse_quantity(text)
    assert (quantity.milli(), quantity.value()) == (milli, value)


def test_equal_by_value_not_by_text():
    assert parse_quantity("1024Mi") == parse_quantity("1Gi") == parse_quantity(1 << 30)
    assert len({parse_quantity("1000m"), parse_quantity("1"), parse_quantity("1e0")}) == 1
    assert parse_quantity("999m") < parse_quantity("1")


numbers = st.one_of(
    st.integers(min_value=0, max_value=10**20).map(str),
    st.decimals(min_value=0, max_value=10**12, places=6).map(str),
)
suffixes = st.sampled_from(
    ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3"]
)


@given(number=numbers, suffix=suffixes)
def test_canonical_text_comes_back_as_the_same_value(number, suffix):
    quantity = parse_quantity(number + suffix)
    again = parse_quantity(str(quantity))
    assert again == quantity
    assert str(again) == str(quantity)


@given(st.integers(min_value=0, max_value=MAX_INT64))
def test_bytes_and_millicores_come_back_exactly(amount):
    assert parse_quantity(str(Quantity.of_bytes(amount))).value() == amount
    assert parse_quantity(str(Quantity.of_milli(amount))).milli() == amount


@given(number=numbers, suffix=suffixes)
def test_whole_units_never_lose_anything(number, suffix):
    quantity = parse_quantity(number + suffix)
    assert 0 <= quantity.value() * NANO - quantity.nano < NANO


def test_a_quarter_gigabyte_is_written_as_people_do():
    assert str(Quantity.of_bytes(256 << 20)) == "256Mi"
    assert str(Quantity(nano=256 << 20, format=Format.DECIMAL_SI)) == "268435456n"
