const LINK = /(\/links\/)[^/?#\s]+/gi;
const KEY = /vk_([0-9a-f]{1,16})_[A-Za-z0-9_-]+/gi;

/**
 * Replaces every key in a text by its public part, and every token of a link, for logs; a text that hides one by
 * percent-encoding is decoded.
 */
export function maskKeys(text: string): string {
  const isHidden = text.includes('%');
  const plain = isHidden ? decodeAll(text) : text;
  const masked = plain.replaceAll(KEY, 'vk_$1_***').replaceAll(LINK, '$1***');
  return masked === plain ? text : masked;
}

/** Decodes every decodable part, however often it was encoded; the rest stays. */
function decodeAll(text: string): string {
  let decoded = text;
  for (let turn = 0; turn < 3; turn += 1) decoded = decoded.replaceAll(/%(?:25)*([0-9a-f]{2})/gi, toCharacter);
  return decoded;
}

const toCharacter = (_escape: string, code: string) => String.fromCharCode(Number.parseInt(code, 16));
