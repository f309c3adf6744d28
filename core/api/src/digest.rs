//! The short hash that tells one pod template from the next: `pod-template-hash`.
//!
//! Upstream hashes a dump of Go structs, which cannot be had without Go, and need not be: which
//! ReplicaSet belongs to a template is decided by comparing templates, never by computing a hash
//! again. So this hashes the normal form behind [`template_equal`](crate::semantic::template_equal)
//! instead, and equal templates have equal hashes. The rest is upstream's: FNV-1a of 32 bits, the
//! collision count mixed in at the end, the sum in decimal, its characters mapped to an alphabet
//! without vowels, so that no hash spells a word.

use crate::semantic::reader::{Members, Node, Scalar, document, read};
use crate::semantic::schema::{Kind, Slot, TEMPLATE};
use crate::semantic::{DEPTH_MAX, TemplateUnreadable};

/// The hash of a pod template, for names and for the label.
///
/// Templates that are equal have equal hashes; the collision count of the owner makes another hash
/// of the same template. A text that no comparison could read is hashed byte for byte.
pub fn template_hash(template: &str, collision_count: Option<i32>) -> String {
    let mut form = NormalForm::default();
    let read = document(template).and_then(|value| form.value(value, TEMPLATE, DEPTH_MAX));
    let mut sum = match read {
        Ok(_) => fnv_1a(FNV_OFFSET, &form.bytes),
        Err(_) => fnv_1a(FNV_OFFSET, template.as_bytes()),
    };
    if let Some(count) = collision_count {
        // Upstream fills eight bytes and uses the first four of them.
        sum = fnv_1a(sum, &u64::from(count.cast_unsigned()).to_le_bytes());
    }
    safe_encode(&sum.to_string())
}

/// Maps each character to one of 27 that cannot form words: upstream's `SafeEncodeString`.
pub fn safe_encode(text: &str) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    text.bytes()
        .map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]))
        .collect()
}

const FNV_OFFSET: u32 = 0x811c_9dc5;
const FNV_PRIME: u32 = 0x0100_0193;

fn fnv_1a(sum: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(sum, |sum, byte| {
        (sum ^ u32::from(*byte)).wrapping_mul(FNV_PRIME)
    })
}

/// Ends every text. No UTF-8 contains it, so that no two forms can run into each other.
const END: u8 = 0xff;

/// A template written down so that equal templates are equal bytes.
#[derive(Default)]
struct NormalForm {
    bytes: Vec<u8>,
}

impl NormalForm {
    /// Appends a value; tells whether it is what Go has where nothing was said.
    fn value(
        &mut self,
        value: &str,
        slot: Slot<'_>,
        depth: usize,
    ) -> Result<bool, TemplateUnreadable> {
        let depth = depth.checked_sub(1).ok_or(TemplateUnreadable::TooDeep)?;
        let start = self.bytes.len();
        let blank = match read(value, slot.kind)? {
            Node::Scalar(scalar) => {
                self.scalar(&scalar);
                scalar.is_zero()
            }
            Node::List(elements) => {
                self.bytes.push(b'[');
                for element in &elements {
                    self.value(element.get(), slot.kind.inside(), depth)?;
                }
                self.bytes.push(b']');
                elements.is_empty()
            }
            Node::Object(members) => self.members(&members, slot.kind, depth)?,
        };
        if blank && !slot.presence {
            self.bytes.truncate(start);
            self.bytes.push(b'0');
        }
        Ok(blank)
    }

    /// Appends an object without those of its fields that count as absent.
    fn members(
        &mut self,
        members: &Members<'_>,
        kind: Kind<'_>,
        depth: usize,
    ) -> Result<bool, TemplateUnreadable> {
        self.bytes.push(b'{');
        let opened = self.bytes.len();
        for (name, value) in members {
            let field = kind.field(name);
            if field.is_some() && *value == "null" {
                continue;
            }
            let start = self.bytes.len();
            self.tagged(b'k', name.as_bytes());
            let blank = self.value(value, field.unwrap_or_else(|| kind.inside()), depth)?;
            if blank && field.is_some_and(|slot| !slot.presence) {
                self.bytes.truncate(start);
            }
        }
        let blank = self.bytes.len() == opened;
        self.bytes.push(b'}');
        Ok(blank)
    }

    fn scalar(&mut self, scalar: &Scalar<'_>) {
        match scalar {
            Scalar::Null => self.bytes.push(b'~'),
            Scalar::Bool(yes) => self.tagged(b'b', &[u8::from(*yes)]),
            Scalar::Number(digits) => self.tagged(b'n', digits.as_bytes()),
            Scalar::Text(text) => self.tagged(b't', text.as_bytes()),
            Scalar::Quantity(quantity) => self.tagged(b'q', &quantity.amount_bytes()),
            Scalar::Instant(at) => self.tagged(b'i', &at.unix_micros().to_le_bytes()),
        }
    }

    fn tagged(&mut self, tag: u8, text: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(text);
        self.bytes.push(END);
    }
}

#[cfg(test)]
mod tests;
