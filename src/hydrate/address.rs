//! Which addresses may be connected to.
//!
//! Only global unicast addresses that reach another machine. The rest are refused: private,
//! loopback, link-local, shared (CGNAT), documentation, multicast and reserved ranges, the
//! addresses of cloud metadata, and every form of IPv6 that carries an IPv4 address inside
//! (mapped, compatible, NAT64, 6to4, Teredo), whatever it carries: no honest name has one.
//! The ranges are those of the IANA registries of special-purpose addresses.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::LazyLock;

use ipnet::IpNet;

/// Refused ranges of IPv4 and IPv6, with what they are.
const SPECIAL: &[(&str, &str)] = &[
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared (CGNAT)"),
    ("127.0.0.0/8", "loopback"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved for protocols"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "6to4 relay"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "unspecified"),
    ("::1/128", "loopback"),
    ("::ffff:0:0/96", "IPv4-mapped"),
    ("::/96", "IPv4-compatible"),
    ("64:ff9b::/96", "NAT64"),
    ("64:ff9b:1::/48", "NAT64"),
    ("2001::/23", "reserved for protocols"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4"),
    ("3fff::/20", "documentation"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
];

/// Where clouds keep the credentials of a machine: refused even where an operator allows the
/// range around them.
const METADATA: &[&str] = &[
    "169.254.0.0/16",
    "100.100.100.200/32",
    "168.63.129.16/32",
    "192.0.0.192/32",
    "fd00:ec2::/32",
    "fe80::/10",
];

/// All that IPv6 has for machines on the Internet.
const GLOBAL_V6: &str = "2000::/3";

struct Ranges {
    special: Vec<(IpNet, &'static str)>,
    metadata: Vec<IpNet>,
    global_v6: Option<IpNet>,
}

static RANGES: LazyLock<Ranges> = LazyLock::new(|| Ranges {
    // A typing error would drop a range in silence; a test counts them.
    special: SPECIAL
        .iter()
        .filter_map(|(net, what)| Some((net.parse().ok()?, *what)))
        .collect(),
    metadata: METADATA.iter().filter_map(|net| net.parse().ok()).collect(),
    global_v6: GLOBAL_V6.parse().ok(),
});

/// The rules of one server.
#[derive(Debug, Clone, Default)]
pub struct AddressRules {
    allowed: Vec<IpNet>,
}

impl AddressRules {
    /// Rules that also let these networks pass: an operator's own documentation server, say.
    pub fn allowing(allowed: Vec<IpNet>) -> Self {
        Self { allowed }
    }

    /// Why an address may not be connected to; `None` where it may.
    pub fn refusal(&self, address: IpAddr) -> Option<&'static str> {
        let ranges = &*RANGES;
        if ranges.metadata.iter().any(|net| net.contains(&address)) {
            return Some("link-local or cloud metadata");
        }
        if self.allowed.iter().any(|net| net.contains(&address)) {
            return None;
        }
        let special = ranges
            .special
            .iter()
            .find(|(net, _)| net.contains(&address));
        match (special, address) {
            (Some((_, what)), _) => Some(what),
            (None, IpAddr::V6(address)) if !is_global(address) => Some("not global unicast"),
            (None, _) => None,
        }
    }
}

fn is_global(address: Ipv6Addr) -> bool {
    let address = IpAddr::V6(address);
    RANGES
        .global_v6
        .is_some_and(|global| global.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: &str) -> Option<&'static str> {
        AddressRules::default().refusal(address.parse().expect("an address"))
    }

    #[test]
    fn every_range_is_read() {
        assert_eq!(RANGES.special.len(), SPECIAL.len());
        assert_eq!(RANGES.metadata.len(), METADATA.len());
        assert!(RANGES.global_v6.is_some());
    }

    #[test]
    fn addresses_of_no_other_machine_are_refused() {
        for address in [
            "0.0.0.0",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "100.100.100.200",
            "168.63.129.16",
            "::",
            "::1",
            "::ffff:10.0.0.1",
            "::ffff:8.8.8.8",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "5f00::1",
            "100::1",
            "3fff::1",
        ] {
            assert!(refused(address).is_some(), "{address}");
        }
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "2606:4700::1111",
        ] {
            assert_eq!(refused(address), None, "{address}");
        }
    }

    #[test]
    fn what_an_operator_allows_passes_except_metadata() {
        let rules = AddressRules::allowing(vec![
            "127.0.0.0/8".parse().expect("a network"),
            "169.254.0.0/16".parse().expect("a network"),
        ]);
        assert_eq!(
            rules.refusal("127.0.0.1".parse().expect("an address")),
            None
        );
        for address in ["169.254.169.254", "10.0.0.1", "::ffff:127.0.0.1"] {
            let address = address.parse().expect("an address");
            assert!(rules.refusal(address).is_some(), "{address}");
        }
    }
}
