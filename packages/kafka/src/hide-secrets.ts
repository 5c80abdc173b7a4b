const HIDDEN = '***';

const SECRET_NAME = /passw|secret|token|credential|authorization|cookie|pepper|(api|private|service|access)_?key/i;

/**
 * A payload for people: replaces values under names of secrets, our keys, tokens, and the part of an address behind its
 * host. Doubtful values are hidden.
 */
export function hideSecrets(whole: string): string {
  const text = cut(whole);
  const parsed = parse(text);
  return parsed === undefined ? hideInText(hideNamed(text)) : JSON.stringify(hideInValue(parsed));
}

/** Longest text that is looked through: it is for people, and patterns take longer than its length says. */
export const MAX_SHOWN = 20_000;

/** The start of a long text, without an address that the cut divides: its password could not be recognised. */
function cut(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  const start = text.slice(0, MAX_SHOWN);
  const address = start.lastIndexOf('://');
  return address >= 0 && !/[\s/?#"'<>]/.test(start.slice(address + 3)) ? start.slice(0, address) : start;
}

function hideInValue(value: unknown): unknown {
  if (typeof value === 'string') return hideInText(value);
  if (Array.isArray(value)) return value.map(hideInValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      hideInText(name),
      SECRET_NAME.test(name) ? HIDDEN : hideInValue(inner),
    ]),
  );
}

/** Addresses of streams hold passwords before the host, in the path and in the query. */
function hideInText(text: string): string {
  return text
    .replaceAll(/([a-z][a-z0-9+.-]{0,31}:\/\/)(?:[^\s/?#"'<>]*@)?([^\s/?#"'<>@]*)([/?#][^\s"'<>]*)?/gi, shortAddress)
    .replaceAll(/\bvk_([0-9a-f]{1,16})_[\w-]+/gi, `vk_$1_${HIDDEN}`)
    .replaceAll(/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${HIDDEN}`)
    .replaceAll(/\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, HIDDEN);
}

const shortAddress = (_whole: string, scheme: string, host: string, rest?: string) =>
  `${scheme}${host}${rest === undefined || rest === '/' ? (rest ?? '') : `/${HIDDEN}`}`;

/** In text that is not quite JSON: the value behind the name of a secret, also one that is cut off. */
function hideNamed(text: string): string {
  return text.replaceAll(/"([^"]{1,100})"(\s*:\s*)"(?:[^"\\]|\\.)*(?:"|$)/g, (whole, name: string, between: string) =>
    SECRET_NAME.test(name) ? `"${name}"${between}"${HIDDEN}"` : whole,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
