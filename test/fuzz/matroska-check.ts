import assert from 'node:assert/strict';
import { totalBytes } from './properties.ts';

const EBML = '1a45dfa3';
const CLUSTER = '1f43b675';

/**
 * What is handed to the decoder: one header, whole clusters with times from zero on, and not much more than what the
 * source sent, so that nobody makes much work of few bytes.
 */
export function checkVideo(parts: readonly Buffer[], sent: readonly Buffer[]): void {
  const [header, ...clusters] = parts;
  if (!header) return;
  assert.equal(header.toString('hex', 0, 4), EBML);
  for (const cluster of clusters) {
    assert.equal(cluster.toString('hex', 0, 4), CLUSTER);
    assert.equal(sizeAt(cluster, 4), cluster.length - 12);
    const time = cluster.readBigUInt64BE(12 + 9);
    assert.ok(time < 2n ** 53n, `a time of ${time} ms`);
  }
  const most = 4096 + 64 * parts.length + 16 * totalBytes(sent);
  assert.ok(totalBytes(parts) <= most, `${totalBytes(parts)} bytes of ${totalBytes(sent)}`);
}

function sizeAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64BE(at) & ((1n << 56n) - 1n));
}
