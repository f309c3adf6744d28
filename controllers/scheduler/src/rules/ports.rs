//! Two pods cannot take the same port of one node.
//!
//! Upstream: `plugins/nodeports` and `HostPortInfo` of kube-scheduler's `framework/types.go`.

use crate::views::HostPort;

const ANY: &str = "0.0.0.0";

/// Whether both want the same port; on all addresses means on each.
pub(crate) fn collide(one: &HostPort, other: &HostPort) -> bool {
    one.port == other.port
        && one.protocol == other.protocol
        && (one.ip == other.ip || one.ip == ANY || other.ip == ANY)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ideas from upstream's `plugins/nodeports/node_ports_test.go`, TestNodePorts.
    #[test]
    fn ports_collide_by_number_protocol_and_address() {
        let port = |text: &str| {
            let [protocol, ip, port] = text.split('/').collect::<Vec<_>>()[..] else {
                panic!("{text}")
            };
            HostPort {
                port: port.parse().unwrap(),
                ip: ip.into(),
                protocol: protocol.into(),
            }
        };
        let cases = [
            ("TCP/127.0.0.1/8080", "TCP/127.0.0.1/8080", true),
            ("TCP/127.0.0.1/8080", "TCP/127.0.0.1/8081", false),
            ("TCP/127.0.0.1/8080", "UDP/127.0.0.1/8080", false),
            ("TCP/127.0.0.1/8080", "TCP/127.0.0.2/8080", false),
            ("TCP/0.0.0.0/8080", "TCP/127.0.0.2/8080", true),
            ("TCP/127.0.0.2/8080", "TCP/0.0.0.0/8080", true),
        ];
        for (one, other, expected) in cases {
            assert_eq!(collide(&port(one), &port(other)), expected, "{one} {other}");
        }
    }
}
