//! What a failed request means for a list or a watch.

use flyball_api::{ApiError, Class};

/// The cases that lists and watches tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The version or page asked for is too old.
    Expired,
    /// The version asked for is one that the server has not come to: it lags, or was restored.
    TooNew,
    /// The server does not accept this kind of request.
    Refused,
    /// The server asks to be left alone for a while.
    Busy,
    /// The server, or the way to it, does not work at the moment.
    Down,
    /// Anything else: not allowed, not there.
    Other,
}

impl Fault {
    pub(super) fn of(error: &ApiError) -> Self {
        // Upstream: apimachinery marks it by cause; older servers only by these words.
        let too_new = error.has_cause("ResourceVersionTooLarge")
            || error.message().contains("Too large resource version");
        match error.class() {
            _ if too_new => Self::TooNew,
            Class::Gone => Self::Expired,
            Class::TooManyRequests { .. } => Self::Busy,
            Class::Timeout | Class::Transient => Self::Down,
            Class::Invalid => Self::Refused,
            _ if error.code() == 400 => Self::Refused,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::Status;

    use super::*;

    fn fault(code: u16, reason: &str, message: &str) -> Fault {
        Fault::of(&ApiError::from_status(Status::failure(
            code, reason, message,
        )))
    }

    #[test]
    fn each_answer_has_its_meaning() {
        assert_eq!(
            fault(410, "Expired", "too old resource version: 1 (5)"),
            Fault::Expired
        );
        assert_eq!(fault(410, "Gone", ""), Fault::Expired);
        assert_eq!(
            fault(504, "Timeout", "Too large resource version: 9"),
            Fault::TooNew
        );
        assert_eq!(fault(504, "Timeout", "slow"), Fault::Down);
        assert_eq!(fault(400, "BadRequest", ""), Fault::Refused);
        assert_eq!(
            fault(422, "Invalid", "sendInitialEvents is forbidden"),
            Fault::Refused
        );
        assert_eq!(fault(429, "TooManyRequests", ""), Fault::Busy);
        assert_eq!(fault(500, "InternalError", ""), Fault::Down);
        assert_eq!(fault(403, "Forbidden", ""), Fault::Other);
        assert_eq!(
            Fault::of(&ApiError::transport("connection refused")),
            Fault::Down
        );
    }
}
