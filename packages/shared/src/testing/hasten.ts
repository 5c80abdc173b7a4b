import type { Constants } from '../config.ts';

/** A configuration with the constants that `env` gives under their names; a service itself never reads them there. */
export function hasten<C extends object>(config: C, constants: Constants, env: Record<string, string | undefined>): C {
  const changed = { ...config };
  for (const [name, value] of Object.entries(constants)) {
    const given = env[name];
    if (given) Object.assign(changed, { [name]: typeof value === 'number' ? Number(given) : given });
  }
  return changed;
}
