/** `make programs`: the Debian packages that `make demo` and `make test` still need on this machine, on one line. */
import { missingPackages } from '../deploy/local/host-programs.ts';
import { optionalProgramsOf, programsOf } from './test-needs.ts';
import { steps } from './test-steps.ts';

const packages = missingPackages([...programsOf(steps), ...optionalProgramsOf(steps)]);
console.log([...new Set(packages)].join(' '));
