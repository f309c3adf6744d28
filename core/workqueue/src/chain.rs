//! A list of small numbers with every operation in constant time, removal from the middle included.
//!
//! The members are indexes that their owner hands out densely (slots of keys, lanes). The links
//! live in one table beside the list heads, so many chains whose members are disjoint share one
//! table: eight bytes per member, no allocation per key.

/// Stands for "no member". The owner never hands it out as an index.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
}

/// The links of any number of chains with disjoint members.
#[derive(Debug, Default)]
pub(crate) struct Links(Vec<Link>);

impl Links {
    /// Forgets all chains and gives the memory back.
    pub(crate) fn reset(&mut self) {
        self.0 = Vec::new();
    }
}

/// One list, first in first out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    first: u32,
    last: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Chain {
            first: NONE,
            last: NONE,
        }
    }
}

impl Chain {
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    pub(crate) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// The member must not be in this chain, nor in another one over the same links.
    pub(crate) fn push_back(&mut self, links: &mut Links, member: u32) {
        let index = member as usize;
        if links.0.len() <= index {
            links.0.resize(
                index + 1,
                Link {
                    before: NONE,
                    after: NONE,
                },
            );
        }
        links.0[index] = Link {
            before: self.last,
            after: NONE,
        };
        if self.last == NONE {
            self.first = member;
        } else {
            links.0[self.last as usize].after = member;
        }
        self.last = member;
    }

    pub(crate) fn pop_front(&mut self, links: &mut Links) -> Option<u32> {
        let member = self.first()?;
        self.remove(links, member);
        Some(member)
    }

    /// The member must be in this chain.
    pub(crate) fn remove(&mut self, links: &mut Links, member: u32) {
        let Link { before, after } = links.0[member as usize];
        if before == NONE {
            self.first = after;
        } else {
            links.0[before as usize].after = after;
        }
        if after == NONE {
            self.last = before;
        } else {
            links.0[after as usize].before = before;
        }
    }

    /// First to last.
    pub(crate) fn iter<'a>(&self, links: &'a Links) -> impl Iterator<Item = u32> + use<'a> {
        std::iter::successors(self.first(), |&member| {
            let after = links.0[member as usize].after;
            (after != NONE).then_some(after)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(chain: &Chain, links: &Links) -> Vec<u32> {
        chain.iter(links).collect()
    }

    #[test]
    fn members_leave_in_the_order_they_came() {
        let (mut chain, mut links) = (Chain::default(), Links::default());
        for member in [4, 0, 2] {
            chain.push_back(&mut links, member);
        }
        assert_eq!(members(&chain, &links), [4, 0, 2]);
        assert_eq!(chain.pop_front(&mut links), Some(4));
        chain.push_back(&mut links, 4);
        assert_eq!(members(&chain, &links), [0, 2, 4]);
    }

    #[test]
    fn a_member_can_leave_from_the_front_the_middle_and_the_end() {
        for (gone, left) in [(1, [2, 3]), (2, [1, 3]), (3, [1, 2])] {
            let (mut chain, mut links) = (Chain::default(), Links::default());
            for member in [1, 2, 3] {
                chain.push_back(&mut links, member);
            }
            chain.remove(&mut links, gone);
            assert_eq!(members(&chain, &links), left);
            chain.push_back(&mut links, gone);
            assert_eq!(members(&chain, &links), [left[0], left[1], gone]);
        }
    }

    #[test]
    fn two_chains_share_one_table_of_links() {
        let mut links = Links::default();
        let (mut odd, mut even) = (Chain::default(), Chain::default());
        for member in 0..6 {
            let chain = if member % 2 == 0 { &mut even } else { &mut odd };
            chain.push_back(&mut links, member);
        }
        assert_eq!(members(&odd, &links), [1, 3, 5]);
        assert_eq!(members(&even, &links), [0, 2, 4]);
    }

    #[test]
    fn an_emptied_chain_is_empty() {
        let (mut chain, mut links) = (Chain::default(), Links::default());
        chain.push_back(&mut links, 7);
        assert_eq!(chain.pop_front(&mut links), Some(7));
        assert!(chain.is_empty());
        assert_eq!(chain.pop_front(&mut links), None);
    }
}
