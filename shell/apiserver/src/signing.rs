//! The key that signs the tokens of service accounts: made once, kept in the data folder.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flyball_registry::{Signer, SigningFailed};
use rcgen::{KeyPair, PublicKeyData};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    UnparsedPublicKey,
};
use serde_json::{Value, json};

use crate::authority::AuthorityError;
use crate::folder::DataFolder;

/// The key, in the data folder.
const PRIVATE: &str = "sa.key";

/// Its public part.
const PUBLIC: &str = "sa.pub";

/// Signs with ECDSA on the curve P-256: `ES256`.
pub(crate) struct SigningKey {
    pair: EcdsaKeyPair,
    id: String,
    random: SystemRandom,
}

impl SigningKey {
    /// The key that a folder keeps, made if the folder is new; one for this process only if there is no
    /// folder.
    pub(crate) fn open(folder: Option<&DataFolder>) -> Result<Self, AuthorityError> {
        let Some(folder) = folder else {
            return Self::of(&KeyPair::generate().map_err(unusable)?);
        };
        let pair = match folder.read(PRIVATE)? {
            Some(text) => KeyPair::from_pem(&text).map_err(unusable)?,
            None => {
                folder.check_may_make(PRIVATE)?;
                let made = KeyPair::generate().map_err(unusable)?;
                folder.write(PRIVATE, &made.serialize_pem())?;
                // It may be of a key that never served.
                folder.write(PUBLIC, &made.public_key_pem())?;
                made
            }
        };
        let key = Self::of(&pair)?;
        // For programs that verify tokens; a copy that was lost is written again.
        let public = pair.public_key_pem();
        match folder.read(PUBLIC)? {
            None => folder.write(PUBLIC, &public)?,
            Some(there) if there.trim() == public.trim() => {}
            Some(_) => {
                return Err(AuthorityError::Mismatch {
                    path: folder.file(PUBLIC),
                    other: folder.file(PRIVATE),
                    advice: "restore sa.key from a copy, or remove sa.pub if sa.key is the right one",
                });
            }
        }
        Ok(key)
    }

    fn of(pair: &KeyPair) -> Result<Self, AuthorityError> {
        let random = SystemRandom::new();
        let private = pair.serialized_der();
        let signing = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, private, &random);
        let id = digest(&SHA256, &pair.subject_public_key_info());
        Ok(Self {
            pair: signing.map_err(unusable)?,
            id: URL_SAFE_NO_PAD.encode(id),
            random,
        })
    }
}

impl Signer for SigningKey {
    fn algorithm(&self) -> &'static str {
        "ES256"
    }

    fn key_id(&self) -> &str {
        &self.id
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningFailed> {
        let signature = self.pair.sign(&self.random, message);
        let signature = signature.map_err(|_| SigningFailed)?;
        Ok(signature.as_ref().to_vec())
    }

    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, self.pair.public_key());
        key.verify(message, signature).is_ok()
    }

    fn public_key(&self) -> Value {
        // An uncompressed point: a mark, then both coordinates in 32 bytes each.
        let point = self.pair.public_key().as_ref();
        let coordinate =
            |from: usize| URL_SAFE_NO_PAD.encode(point.get(from..from + 32).unwrap_or_default());
        json!({
            "use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": "ES256",
            "x": coordinate(1), "y": coordinate(33),
        })
    }
}

fn unusable(error: impl std::fmt::Display) -> AuthorityError {
    AuthorityError::SigningKey(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_its_key() {
        let path = std::env::temp_dir().join(format!("flyball-signing-{}", uuid::Uuid::new_v4()));
        let folder = DataFolder::lock(&path).unwrap();
        let first = SigningKey::open(Some(&folder)).unwrap();
        let second = SigningKey::open(Some(&folder)).unwrap();
        let signature = first.sign(b"word").unwrap();
        assert_eq!(first.key_id(), second.key_id());
        assert!(second.verifies(b"word", &signature));
        assert!(!second.verifies(b"sword", &signature));
        assert!(
            !SigningKey::open(None)
                .unwrap()
                .verifies(b"word", &signature)
        );
        let public = std::fs::read_to_string(path.join("sa.pub")).unwrap();
        assert!(public.starts_with("-----BEGIN PUBLIC KEY-----"));
        std::fs::write(path.join("sa.key"), "nonsense").unwrap();
        let told = SigningKey::open(Some(&folder)).err().unwrap().to_string();
        assert!(told.contains("restore sa.key"), "{told}");
        std::fs::remove_dir_all(&path).unwrap();
    }
}
