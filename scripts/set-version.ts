/** `npx node scripts/set-version.ts 0.4.0`: the version of the repository, in every manifest that has it. */
import { setVersion } from './release/set-version.ts';

setVersion(process.cwd(), process.argv[2] ?? '');
