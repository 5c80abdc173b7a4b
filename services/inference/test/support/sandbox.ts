import { createSandbox } from '../../src/sandbox/sandbox.ts';

/** What decoders of a test file run in. */
export const sandbox = await createSandbox('auto');
