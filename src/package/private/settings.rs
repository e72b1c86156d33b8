//! Values of settings that secrets are called like: algorithms of cryptography, versions, counts, and words.

/// Algorithms, families of them before their sizes, and what is put together with them.
const ALGORITHMS: &str = " aegis aes argon argon2d argon2i argon2id ascon bcrypt blake blake2b blake2s blake3 blowfish bn254 \
    brainpoolp256r1 camellia cast5 chacha chacha20 cmac curve25519 curve448 des dh dilithium dsa ecc ecdh ecdsa ecies ed25519 \
    ed448 eddsa elgamal falcon ffdhe frodokem gmac hkdf hmac kdf kyber md4 md5 md5crypt mldsa mlkem ml nistp ntru p192 p224 p256 p384 \
    p521 pbkdf2 poly1305 prime256v1 rc4 ripemd160 rsa saber salsa20 schnorr scrypt secp224r1 secp256k1 secp256r1 secp384r1 \
    secp521r1 sha sha1 sha2 sha256crypt sha3 sha512crypt shake siphash slhdsa sm2 sm3 sm4 sntrup sphincs tdes twofish whirlpool x25519 x448 xchacha20 \
    xsalsa20 xxh3 xxhash yescrypt ";

/// Modes and forms that stand beside them.
const MODES: &str = " cbc ccm cfb ctr dem der dsa ecb ed enc gcm hash kem kw mac modp none oaep ocb ofb pem pkcs pkcs1 pkcs8 pss raw \
    sig sign siv with xts ";

/// What is counted where keys and passwords are measured.
const COUNTED: &str = " attempt attempts bit bits byte bytes char chars character characters col cols cost digit digits item items \
    iter iteration iterations iters key keys len length letters ops pass passes round rounds row rows size step steps symbols \
    thread threads times tries words ";

fn is_one_of(list: &str, word: &str) -> bool {
    !word.is_empty() && list.contains(&format!(" {word} "))
}

/// A word and the number at its end.
fn counted(word: &str) -> (&str, &str) {
    word.split_at(word.trim_end_matches(|digit: char| digit.is_ascii_digit()).len())
}

/// Whether a value is one of a setting. `name` is what stands before it: a password may be any words.
pub(super) fn is_setting(name: &str, value: &str) -> bool {
    let is_of_words = || !name.to_ascii_lowercase().contains("pass") && is_snake_case(value);
    value.len() <= LONGEST && (is_algorithm(value) || is_count(value) || is_version(value) || is_of_words())
}

/// Bytes of the longest such value.
const LONGEST: usize = 48;

/// `ed25519`, `rsa2048`, `hmac_sha256`, `aes-256-gcm`
fn is_algorithm(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_size = |digits: &str| digits.len() <= 5 && digits.bytes().all(|digit| digit.is_ascii_digit());
    let is_known = |list: &str, word: &str| {
        let (stem, digits) = counted(word);
        is_one_of(list, word) || (is_one_of(list, stem) && is_size(digits))
    };
    let words = || lower.split(['_', '-', '/', '+', ':']);
    words().any(|word| is_known(ALGORITHMS, word))
        && words()
            .all(|word| is_known(ALGORITHMS, word) || is_known(MODES, word) || (!word.is_empty() && is_size(word)))
}

/// `12rounds`, `rounds12`
fn is_count(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let (word, after) = counted(&lower);
    let behind = lower.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let of_others = |word: &str| is_one_of(COUNTED, word.trim_matches(['_', '-']));
    let is_few = |digits: usize| (1..=7).contains(&digits);
    (is_few(after.len()) && of_others(word)) || (is_few(lower.len() - behind.len()) && of_others(behind))
}

/// `v1alpha2`, `v2`
fn is_version(value: &str) -> bool {
    let rest = value.strip_prefix('v').unwrap_or_default();
    let (before, after) = counted(rest);
    let (major, stage) = match before.is_empty() {
        true => (after, ""),
        false => before.split_at(before.find(|symbol: char| !symbol.is_ascii_digit()).unwrap_or(before.len())),
    };
    (1..=2).contains(&major.len()) && after.len() <= 2 && ["", "alpha", "beta", "rc", "dev"].contains(&stage)
}

/// `row_major`, `autotune_v2`: two to five words of small letters, the last one with a digit at most.
fn is_snake_case(value: &str) -> bool {
    let (words, digits) = counted(value);
    let parts = || words.trim_end_matches('_').split('_');
    let is_word = |part: &str| part.len() <= 12 && part.bytes().all(|letter| letter.is_ascii_lowercase());
    // `_v10`
    let most = if words.ends_with("_v") { 2 } else { 1 };
    digits.len() <= most && (2..=5).contains(&parts().count()) && parts().all(|part| !part.is_empty() && is_word(part))
}
