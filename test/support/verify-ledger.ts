import { admin } from './system.ts';

/** Ends a run of the end-to-end tests: every counter of the quota has to equal what the ledger says. */
export default async function verifyLedger(): Promise<void> {
  const { status, body, text } = await admin('POST', '/admin/v1/quota/verify');
  const differences = body['differences'] as unknown[] | undefined;
  if (status !== 200 || differences?.length !== 0) throw new Error(`the quota ledger does not verify: ${text}`);
}
