/** `make version`: the version of images and chart that are built of this checkout. */
import { buildVersion } from './release/version.ts';

console.log(buildVersion(process.cwd()).version);
