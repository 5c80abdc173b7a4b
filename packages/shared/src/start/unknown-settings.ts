/** A variable that no setting has the name of, and the setting that was probably meant. */
export interface UnknownSetting {
  variable: string;
  meant?: string;
}

/** Prefixes of our settings: an unknown variable with one of them is probably misspelt. */
const OUR_PREFIX = /^(DATABASE|KAFKA|REDIS|S3|OUTBOX|AUDIT)_/;

/** What Kubernetes sets for each Service of a namespace (`enableServiceLinks`): REDIS_PORT=tcp://… and the like. */
const SERVICE_LINK = /_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP)(_\w+)?)$/;

/**
 * Variables of the environment that are probably misspelt settings: they differ from one in at most two letters, or
 * begin as settings of this process do. Names of other programs are not reported.
 */
export function unknownSettings(known: string[], env: Record<string, string | undefined>): UnknownSetting[] {
  return Object.entries(env).flatMap(([variable, value = '']) => {
    const name = variable.replace(/_FILE$/, '');
    if (known.includes(variable) || known.includes(name)) return [];
    if (SERVICE_LINK.test(variable) || /^(tcp|udp):\/\//.test(value)) return [];
    const meant = known.find((setting) => isNear(name.toUpperCase(), setting));
    if (meant !== undefined) return [{ variable, meant }];
    const prefix = OUR_PREFIX.exec(name)?.[0];
    return prefix !== undefined && known.some((setting) => setting.startsWith(prefix)) ? [{ variable }] : [];
  });
}

/** Of short names a single letter is enough: HOME is not HOST. */
const isNear = (name: string, setting: string) =>
  distance(name, setting) <= Math.min(2, Math.floor((setting.length - 1) / 4));

/** Letters that have to be added, removed or replaced to make one word of the other (Levenshtein). */
function distance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 2) return Infinity;
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [line, letter] of Array.from(from).entries()) {
    const next = [line + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] ?? 0) + (letter === to[column] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? Infinity;
}
