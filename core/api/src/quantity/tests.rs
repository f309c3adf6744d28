use proptest::prelude::*;

use super::*;

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap()
}

#[test]
fn prints_the_canonical_form_as_upstream_does() {
    // Printed by apimachinery v0.36.4 after its cached text was dropped.
    let table = [
        ("0", "0"),
        ("-0", "0"),
        ("+0.0", "0"),
        ("0Ki", "0"),
        ("+5", "5"),
        ("5.", "5"),
        (".5", "500m"),
        ("00012", "12"),
        ("1.5", "1500m"),
        ("1.500", "1500m"),
        ("1500m", "1500m"),
        ("5n", "5n"),
        ("5u", "5u"),
        ("0.5u", "500n"),
        ("0.5n", "1n"),
        ("0.0000000001", "1n"),
        ("-0.0000000001", "-1n"),
        ("10e-1000", "1e-9"),
        ("1000", "1k"),
        ("1024", "1024"),
        ("123456", "123456"),
        ("12E", "12E"),
        ("1E", "1E"),
        ("1e18", "1e18"),
        ("1e21", "1e21"),
        ("12e3", "12e3"),
        ("1e+3", "1e3"),
        ("1E-3", "1e-3"),
        ("100e-4", "10e-3"),
        ("1e0", "1"),
        ("1e1000", "10e999"),
        ("1Ki", "1Ki"),
        ("5.Ki", "5Ki"),
        ("1000Ki", "1000Ki"),
        ("1023Ki", "1023Ki"),
        ("1024Ki", "1Mi"),
        ("-1Ki", "-1Ki"),
        ("0.1Ki", "102400m"),
        ("0.5Ki", "512"),
        ("0.5Mi", "512Ki"),
        ("1.1Mi", "1153433600m"),
        ("3.14159Ki", "3216988160u"),
        ("1.5Gi", "1536Mi"),
        ("-1.5Gi", "-1536Mi"),
        ("1Ei", "1Ei"),
        ("8Ei", "9223372036854775807"),
        ("-9Ei", "-9223372036854775807"),
        ("16Ei", "9223372036854775807"),
        (
            "99999999999999999999999999999999999999Ei",
            "9223372036854775807",
        ),
        ("99999999999999999999", "99999999999999999999"),
        ("99999999999999999999.5", "99999999999999999999500m"),
        (
            "100000000000000000000000000000000000000000000000000000000000Ki",
            "9223372036854775807",
        ),
    ];
    for (text, canonical) in table {
        assert_eq!(quantity(text).to_string(), canonical, "{text}");
        assert_eq!(quantity(canonical), quantity(text), "{text}");
    }
}

#[test]
fn a_power_beyond_exa_keeps_its_value_when_printed() {
    assert_eq!(quantity("1000E").to_string(), "1e21");
    assert_eq!(quantity("1000E"), quantity("1e21"));
}

#[test]
fn one_amount_in_many_notations_is_equal() {
    let same = [
        ["1", "1000m", "1e0", "1000000u"],
        ["100m", "0.1", "1e-1", ".10"],
        ["1Gi", "1024Mi", "1073741824", "1073741824000m"],
        ["0", "0m", "0Ki", "-0e5"],
        ["2k", "2000", "2e3", "2E3"],
    ];
    for group in same {
        for text in group {
            assert_eq!(quantity(text), quantity(group[0]), "{text}");
        }
    }
}

#[test]
fn orders_by_amount_whatever_the_notation() {
    let ascending = [
        "-1e40",
        "-1Ei",
        "-1k",
        "-999",
        "-1n",
        "0",
        "1n",
        "1u",
        "999u",
        "1m",
        "0.5",
        "1",
        "1k",
        "1Ki",
        "1M",
        "1Mi",
        "1G",
        "1Gi",
        "1E",
        "1Ei",
        "99999999999999999999",
        "1e20",
        "1e2000000000",
    ];
    for (i, low) in ascending.iter().enumerate() {
        for high in &ascending[i + 1..] {
            assert!(quantity(low) < quantity(high), "{low} < {high}");
            assert!(quantity(high) > quantity(low), "{high} > {low}");
        }
    }
}

#[test]
fn of_many_digits_the_first_count_rounded_up() {
    let long = |last: &str| quantity(&format!("{}{last}", "1".repeat(38)));
    assert_eq!(long("0003"), quantity(&format!("{}20000", "1".repeat(37))));
    assert_eq!(long("0.5"), quantity(&format!("{}20", "1".repeat(37))));
    assert!(long("1") > long("0"));
    assert_eq!(long("1").milli_value(), i64::MAX);
    let fraction = "0.1234567890123456789012345678901234567890123";
    assert_eq!(quantity(fraction), quantity("123456790n"));
    assert_eq!(quantity(&format!("{}Ki", "9".repeat(50))).value(), i64::MAX);
}

#[test]
fn names_the_text_it_cannot_read() {
    let bad = [
        "",
        "+",
        "-",
        ".",
        "m",
        "Ki",
        "e3",
        "1e",
        "1E+",
        "-3.01e-",
        "1i",
        ".5i",
        "0.1mi",
        "0.1am",
        "aoeu",
        "1.1.M",
        "1+1.0M",
        "1 ",
        " 1",
        "1_0",
        "1e3k",
        "1ki",
        "0x10",
        "NaN",
        "inf",
        "1é",
        "1e99999999999",
        "1e2147483648",
    ];
    for text in bad {
        let error = text.parse::<Quantity>().unwrap_err();
        assert_eq!(error.text, text);
        assert!(error.to_string().contains(text), "{error}");
    }
}

#[test]
fn values_round_away_from_zero_and_stop_at_the_ends() {
    // Text, whole units, thousandths.
    let table = [
        ("0", 0, 0),
        ("1n", 1, 1),
        ("-1n", -1, -1),
        ("1500m", 2, 1500),
        ("-1500m", -2, -1500),
        ("2Ki", 2048, 2_048_000),
        ("7", 7, 7000),
        ("1e30", i64::MAX, i64::MAX),
        ("-1e300", i64::MIN, i64::MIN),
        ("1E", 1_000_000_000_000_000_000, i64::MAX),
    ];
    for (text, value, milli) in table {
        assert_eq!(quantity(text).value(), value, "{text}");
        assert_eq!(quantity(text).milli_value(), milli, "{text}");
    }
}

#[test]
fn json_is_a_text_or_a_number_and_prints_canonically() {
    for (json, want) in [
        ("\"1.5Gi\"", "\"1536Mi\""),
        ("\" 5 \"", "\"5\""),
        ("2", "\"2\""),
        ("-3", "\"-3\""),
        ("0.5", "\"500m\""),
        ("18446744073709551615", "\"18446744073709551615\""),
    ] {
        let read: Quantity = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), want, "{json}");
    }
    assert!(serde_json::from_str::<Quantity>("true").is_err());
    let error = serde_json::from_str::<Quantity>("\"lots\"").unwrap_err();
    assert!(error.to_string().contains("lots"), "{error}");
}

/// A text with its amount in billionths, computed without the code under test.
fn text_and_nanos() -> impl Strategy<Value = (String, i128)> {
    let decimal = (any::<bool>(), 0u64..1_000_000_000_000, 0usize..10).prop_map(
        |(negative, digits, suffix)| {
            let suffixes = ["n", "u", "m", "", "k", "M", "G", "e-3", "e3", "E+6"];
            let powers = [0, 3, 6, 9, 12, 15, 18, 6, 12, 15];
            let sign = if negative { "-" } else { "" };
            let nanos = i128::from(digits) * 10i128.pow(powers[suffix]);
            (
                format!("{sign}{digits}{}", suffixes[suffix]),
                if negative { -nanos } else { nanos },
            )
        },
    );
    let fraction =
        (0u32..100_000, 0u32..1000, 0usize..3).prop_map(|(whole, thousandths, suffix)| {
            let nanos = (i128::from(whole) * 1000 + i128::from(thousandths)) * 1_000_000;
            let (suffix, factor) = [("", 1), ("k", 1000), ("Ki", 1024)][suffix];
            (format!("{whole}.{thousandths:03}{suffix}"), nanos * factor)
        });
    let binary = (0u32..1_000_000, 0usize..5).prop_map(|(units, suffix)| {
        let nanos = (i128::from(units) << (10 * suffix)) * 1_000_000_000;
        (
            format!("{units}{}", ["", "Ki", "Mi", "Gi", "Ti"][suffix]),
            nanos,
        )
    });
    prop_oneof![decimal, fraction, binary]
}

proptest! {
    #[test]
    fn reading_what_was_printed_gives_the_same_amount((text, _) in text_and_nanos()) {
        let read = quantity(&text);
        let printed = read.to_string();
        prop_assert_eq!(quantity(&printed), read);
        prop_assert_eq!(quantity(&printed).to_string(), printed);
    }

    #[test]
    fn order_is_that_of_the_amount_in_nanos(
        (a_text, a_nanos) in text_and_nanos(),
        (b_text, b_nanos) in text_and_nanos(),
    ) {
        let (a, b) = (quantity(&a_text), quantity(&b_text));
        prop_assert_eq!(a.cmp(&b), a_nanos.cmp(&b_nanos));
        prop_assert_eq!(a == b, a_nanos == b_nanos);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-+]?[0-9.]{0,50}[eEinumkKMGTP]{0,3}[-+]?[0-9]{0,12}") {
        if let Ok(read) = text.parse::<Quantity>() {
            prop_assert_eq!(read.cmp(&read), Ordering::Equal);
            prop_assert_eq!(quantity(&read.to_string()), read);
            let _ = (read.value(), read.milli_value());
        }
    }
}
