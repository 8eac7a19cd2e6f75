//! Times of the document, as seconds: how long something has run when the document was made.

/// Seconds from one time to another, both RFC 3339; 0 where they lie the other way round, `None` where one is none.
pub(super) fn seconds_between(from: &str, to: &str) -> Option<u64> {
    Some(u64::try_from(seconds(to)? - seconds(from)?).unwrap_or(0))
}

/// Seconds since 1970 of a time as `2026-11-29T10:00:00Z`; a fraction of a second is dropped.
fn seconds(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = text.get(range)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let is = |at: usize, any: &[u8]| text.as_bytes().get(at).is_some_and(|byte| any.contains(byte));
    let is_formed = is(4, b"-") && is(7, b"-") && is(10, b"Tt ") && is(13, b":") && is(16, b":");
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let is_in_range = (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !is_formed || !is_in_range {
        return None;
    }
    let rest = text.get(19..)?;
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => {
            let zone = fraction.trim_start_matches(|digit: char| digit.is_ascii_digit());
            (zone.len() < fraction.len()).then_some(zone)?
        }
        None => rest,
    };
    Some(days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset_s(zone)?)
}

/// Seconds that a zone, as `Z` or `+02:00`, is ahead of UTC.
fn offset_s(zone: &str) -> Option<i64> {
    if zone == "Z" || zone == "z" {
        return Some(0);
    }
    let (sign, clock) = match zone.split_at_checked(1)? {
        ("+", clock) => (1, clock),
        ("-", clock) => (-1, clock),
        _ => return None,
    };
    let (hours, minutes) = clock.split_once(':')?;
    let part = |digits: &str, below: i64| -> Option<i64> {
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|&number| is_number && number < below)
    };
    Some(sign * (part(hours, 24)? * 3600 + part(minutes, 60)? * 60))
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days of the Gregorian calendar, with years that begin in March so that the leap day is their last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_since_1970() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-11-29T10:00:00Z", 1_795_946_400),
            ("2026-11-29T12:00:00.75+02:00", 1_795_946_400),
            ("2026-11-28t23:30:00-10:30", 1_795_946_400),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_unknown() {
        for text in [
            "",
            "yesterday",
            "2026-11-29",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-29T10:00:00",
            "2026-11-29T10:00:00.Z",
            "2026-11-29T24:00:00Z",
            "2026-11-29T10:00:00+2:00",
            "+026-11-29T10:00:00Z",
            "2026-11-29T10:00:00Ö",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(seconds_between("2026-11-29T10:00:00Z", "2026-11-29T09:00:00Z"), Some(0));
    }
}
