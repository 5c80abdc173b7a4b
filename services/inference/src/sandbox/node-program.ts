import { createRequire } from 'node:module';
import { sep } from 'node:path';

/**
 * Arguments of every Node.js in the sandbox. No configuration of OpenSSL: its file cannot be read there, which would
 * end Node. No guard pages of WebAssembly: they reserve more addresses than the process may have.
 */
export const NODE_IN_SANDBOX = ['--openssl-config=/dev/null', '--disable-wasm-trap-handler'];

/** The outermost node_modules folder on the way to a package, as seen from a module. */
export function nodeModulesOf(packageName: string, moduleUrl: string): string {
  const path = createRequire(moduleUrl).resolve(packageName);
  return path.slice(0, path.indexOf(`${sep}node_modules${sep}`) + `${sep}node_modules`.length);
}
