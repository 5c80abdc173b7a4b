/** Raised with every variable that compose would ask for and does not find. */
export class MissingVariables extends Error {
  override readonly name = 'MissingVariables';
  readonly variables: string[];

  constructor(missing: Map<string, string>) {
    super([...missing].map(([name, why]) => `required variable ${name} is missing a value: ${why}`).join('\n'));
    this.variables = [...missing.keys()];
  }
}

const REFERENCE = /\$(?:\$|([A-Z_][A-Z0-9_]*)|\{([A-Z_][A-Z0-9_]*)(?:(:[-?])([^}]*))?\})|\$/g;

/**
 * Fills in `${NAME}`, `${NAME:-default}`, `${NAME:?why}` and `$$` in every text of a compose file, as docker compose
 * does. @throws MissingVariables naming all of them; Error for a form of reference that is not one of these.
 */
export function interpolate<T>(value: T, variables: Record<string, string | undefined>): T {
  const missing = new Map<string, string>();
  const lookUp = (reference: RegExpExecArray, text: string) => {
    const [whole, bare, braced, operator, rest = ''] = reference;
    if (whole === '$$') return '$';
    const name = bare ?? braced;
    if (name === undefined) throw new Error(`This is no reference that docker compose would fill in: ${text}`);
    const given = variables[name];
    if (given) return given;
    if (operator === ':-') return rest;
    missing.set(name, operator === ':?' ? rest : 'it has no default');
    return '';
  };
  const filled = fill(value, (text) => {
    let at = 0;
    const parts = [...text.matchAll(REFERENCE)].map((reference) => {
      const before = text.slice(at, reference.index);
      at = reference.index + reference[0].length;
      return before + lookUp(reference, text);
    });
    return parts.join('') + text.slice(at);
  });
  if (missing.size > 0) throw new MissingVariables(missing);
  return filled;
}

/** Names of all variables that the texts refer to. */
export function variablesIn(text: string): Set<string> {
  const names = [...text.matchAll(REFERENCE)].map(([, bare, braced]) => bare ?? braced);
  return new Set(names.filter((name) => name !== undefined));
}

// The shape stays; only texts inside change.
function fill<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((entry: unknown) => fill(entry, change)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, fill<unknown>(entry, change)])) as T;
}
