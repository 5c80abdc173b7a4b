/** `node deploy/local/install.ts podman runc`: installs these programs where they are missing, for shell scripts. */
import { installMissing, isHostProgram } from './host-programs.ts';

try {
  installMissing(process.argv.slice(2).filter(isHostProgram));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
