/**
 * Ends a run of the end-to-end tests: every counter of the quota has to equal what the ledger says. Jest loads this
 * file by Node's own rules, so it imports nothing of the project.
 */
export default async function verifyLedger(): Promise<void> {
  const { ADMIN_URL, ADMIN_TOKEN } = process.env;
  const reply = await fetch(`${ADMIN_URL ?? ''}/admin/v1/quota/verify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN ?? ''}` },
  });
  const text = await reply.text();
  const differences = reply.ok ? (JSON.parse(text) as { differences: unknown[] }).differences : undefined;
  if (differences?.length !== 0) throw new Error(`the quota ledger does not verify: ${text}`);
}
