//! Cryptography of WebRTC for str0m: SRTP (RFC 3711, 7714), STUN and fingerprints by *ring*, DTLS by dimpl with random
//! numbers of the simulator.

use aes::cipher::{BlockEncrypt, KeyInit};
use aes::{Aes128, Aes256, Block};
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};
use str0m::crypto::{
    AeadAes128GcmCipher, AeadAes256GcmCipher, Aes128CmSha1_80Cipher, CryptoError, CryptoProvider,
    Sha1HmacProvider, Sha1Provider, Sha256Provider, SrtpProvider, SupportedAeadAes128Gcm,
    SupportedAeadAes256Gcm, SupportedAes128CmSha1_80,
};

use super::dtls::Dtls;

/// What str0m takes.
pub(crate) const PROVIDER: CryptoProvider = CryptoProvider {
    srtp_provider: &Library,
    sha1_hmac_provider: &Library,
    sha1_provider: &Library,
    sha256_provider: &Library,
    dtls_provider: &Dtls,
};

#[derive(Debug)]
struct Library;

impl Sha1HmacProvider for Library {
    fn sha1_hmac(&self, key: &[u8], payloads: &[&[u8]]) -> [u8; 20] {
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key);
        let mut context = ring::hmac::Context::with_key(&key);
        for payload in payloads {
            context.update(payload);
        }
        context.sign().as_ref().try_into().expect("SHA-1 has 20 bytes")
    }
}

impl Sha1Provider for Library {
    fn sha1(&self, data: &[u8]) -> [u8; 20] {
        let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, data);
        digest.as_ref().try_into().expect("SHA-1 has 20 bytes")
    }
}

impl Sha256Provider for Library {
    fn sha256(&self, data: &[u8]) -> [u8; 32] {
        let digest = ring::digest::digest(&ring::digest::SHA256, data);
        digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
    }
}

impl SrtpProvider for Library {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        &Self
    }

    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        &Self
    }

    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        &Self
    }

    fn srtp_aes_128_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        let cipher = Aes128::new_from_slice(key).expect("16 bytes are a key");
        encrypt_block(&cipher, input, output);
    }

    fn srtp_aes_256_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        let cipher = Aes256::new_from_slice(key).expect("32 bytes are a key");
        encrypt_block(&cipher, input, output);
    }
}

fn encrypt_block(
    cipher: &impl BlockEncrypt<BlockSize = aes::cipher::consts::U16>,
    input: &[u8],
    output: &mut [u8],
) {
    output[..16].copy_from_slice(input);
    cipher.encrypt_block(Block::from_mut_slice(&mut output[..16]));
}

impl SupportedAes128CmSha1_80 for Library {
    fn create_cipher(&self, key: [u8; 16], _encrypt: bool) -> Box<dyn Aes128CmSha1_80Cipher> {
        Box::new(Counter(Aes128::new(&key.into())))
    }
}

impl SupportedAeadAes128Gcm for Library {
    fn create_cipher(&self, key: [u8; 16], _encrypt: bool) -> Box<dyn AeadAes128GcmCipher> {
        Box::new(Gcm::new(&AES_128_GCM, &key))
    }
}

impl SupportedAeadAes256Gcm for Library {
    fn create_cipher(&self, key: [u8; 32], _encrypt: bool) -> Box<dyn AeadAes256GcmCipher> {
        Box::new(Gcm::new(&AES_256_GCM, &key))
    }
}

/// AES in counter mode [RFC3711 §4.1.1].
#[derive(Debug)]
struct Counter(Aes128);

impl Aes128CmSha1_80Cipher for Counter {
    fn encrypt(&mut self, iv: &[u8; 16], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        let first = u128::from_be_bytes(*iv);
        for ((number, input), output) in (0..).zip(input.chunks(16)).zip(output.chunks_mut(16)) {
            let mut key_stream = Block::from(first.wrapping_add(number).to_be_bytes());
            self.0.encrypt_block(&mut key_stream);
            for ((output, input), key) in output.iter_mut().zip(input).zip(key_stream) {
                *output = input ^ key;
            }
        }
        Ok(())
    }

    fn decrypt(&mut self, iv: &[u8; 16], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        self.encrypt(iv, input, output)
    }
}

/// AES-GCM [RFC7714].
#[derive(Debug)]
struct Gcm(LessSafeKey);

impl Gcm {
    fn new(algorithm: &'static Algorithm, key: &[u8]) -> Self {
        Self(LessSafeKey::new(UnboundKey::new(algorithm, key).expect("the length is the algorithm's")))
    }

    fn seal(&self, iv: [u8; 12], aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        let (content, rest) = output.split_at_mut(input.len());
        content.copy_from_slice(input);
        let nonce = Nonce::assume_unique_for_key(iv);
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(aad), content);
        let tag = tag.map_err(|_| CryptoError::Other("it is too long to be sealed".to_owned()))?;
        rest[..tag.as_ref().len()].copy_from_slice(tag.as_ref());
        Ok(())
    }

    fn open(
        &self,
        iv: [u8; 12],
        aads: &[&[u8]],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CryptoError> {
        let mut sealed = input.to_vec();
        let nonce = Nonce::assume_unique_for_key(iv);
        let opened = self.0.open_in_place(nonce, Aad::from(aads.concat()), &mut sealed);
        let content = opened.map_err(|_| CryptoError::Other("the tag is wrong".to_owned()))?;
        output[..content.len()].copy_from_slice(content);
        Ok(content.len())
    }
}

macro_rules! gcm {
    ($($cipher:ident)*) => {$(
        impl $cipher for Gcm {
            fn encrypt(
                &mut self,
                iv: &[u8; 12],
                aad: &[u8],
                input: &[u8],
                output: &mut [u8],
            ) -> Result<(), CryptoError> {
                self.seal(*iv, aad, input, output)
            }

            fn decrypt(
                &mut self,
                iv: &[u8; 12],
                aads: &[&[u8]],
                input: &[u8],
                output: &mut [u8],
            ) -> Result<usize, CryptoError> {
                self.open(*iv, aads, input, output)
            }
        }
    )*};
}

gcm! { AeadAes128GcmCipher AeadAes256GcmCipher }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_mode_gives_the_key_stream_of_rfc_3711() {
        // [RFC3711 §B.2]
        let key = 0x2B7E_1516_28AE_D2A6_ABF7_1588_09CF_4F3C_u128.to_be_bytes();
        let iv = 0xF0F1_F2F3_F4F5_F6F7_F8F9_FAFB_FCFD_0000_u128.to_be_bytes();
        let mut stream = [0; 40];
        let mut cipher = SupportedAes128CmSha1_80::create_cipher(&Library, key, true);
        cipher.encrypt(&iv, &[0; 40], &mut stream).expect("it has a key");
        assert_eq!(stream[..16], 0xE03E_AD09_35C9_5E80_E166_B16D_D92B_4EB4_u128.to_be_bytes());
        assert_eq!(stream[16..32], 0xD235_1316_2B02_D0F7_2A43_A2FE_4A5F_97AB_u128.to_be_bytes());
        assert_eq!(stream[32..], 0x41E9_5B3B_B0A2_E8DD_u64.to_be_bytes());
    }

    #[test]
    fn gcm_opens_what_it_sealed_and_nothing_else() {
        let cipher = Gcm::new(&AES_256_GCM, &[7; 32]);
        let mut sealed = [0; 21];
        cipher.seal([1; 12], b"header", b"media", &mut sealed).expect("it is short");
        let mut opened = [0; 21];
        assert_eq!(cipher.open([1; 12], &[b"head", b"er"], &sealed, &mut opened).ok(), Some(5));
        assert_eq!(&opened[..5], b"media");
        sealed[0] ^= 1;
        assert!(cipher.open([1; 12], &[b"header"], &sealed, &mut opened).is_err());
    }
}
