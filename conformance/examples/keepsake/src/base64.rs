//! Base64 with padding: how content that is no text travels. With the `base64` crate at hand this file is not needed.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0u32, |bits, (place, byte)| bits | (*byte as u32) << (16 - 8 * place));
        for place in 0..4 {
            if place <= group.len() {
                out.push(DIGITS[(bits >> (18 - 6 * place)) as usize & 63] as char);
            } else {
                out.push('=');
            }
        }
    }
    out
}

pub fn decode(written: &str) -> Option<Vec<u8>> {
    let digits = written.trim_end_matches('=').as_bytes();
    if written.len() % 4 != 0 || written.len() - digits.len() > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for (place, digit) in group.iter().enumerate() {
            bits |= (DIGITS.iter().position(|known| known == digit)? as u32) << (18 - 6 * place);
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for (bytes, written) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(encode(bytes.as_bytes()), written);
            assert_eq!(decode(written).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(decode("Zg"), None);
        assert_eq!(decode("Z?=="), None);
    }
}
