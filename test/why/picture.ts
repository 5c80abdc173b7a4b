import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { until } from '@vision/shared/testing/until';
import { ensureZipkin } from '../../deploy/local/observe.ts';
import { root, urlOf } from '../../deploy/local/settings.ts';
import { toZipkin } from '../../deploy/local/traces/to-zipkin.ts';
import type { OtlpTraces } from '../../deploy/local/traces/to-zipkin.ts';
import type { Asked } from './asked.ts';
import { photograph } from './browser.ts';
import type { WhySystem } from './system.ts';

/** The trace that README shows, and the span of it whose attributes are open. */
export const pictured = { scenario: 'model-server', span: 'triton: triton infer' };

/** Takes docs/why.png: the trace of a request in the viewer of `make up OBSERVE=1`, in a real browser. */
export async function takePicture({ settings, collector }: WhySystem, { traceId = '' }: Asked): Promise<void> {
  await ensureZipkin(settings);
  const viewer = `${urlOf(settings, 'traces')}/zipkin`;
  const spans = collector.exports().flatMap((one) => toZipkin(one as OtlpTraces, viewer));
  const body = JSON.stringify(spans.filter((span) => span.traceId === traceId));
  const headers = { 'content-type': 'application/json' };
  const taken = await fetch(`${urlOf(settings, 'traces')}/api/v2/spans`, { method: 'POST', headers, body });
  if (!taken.ok) throw new Error(`the viewer answered ${taken.status}`);
  // It takes them in the background, and a page that finds none asks no more.
  const stored = async () => {
    const found = await fetch(`${urlOf(settings, 'traces')}/api/v2/trace/${traceId}`);
    return found.ok && ((await found.json()) as unknown[]).length > 0;
  };
  await until(stored, { intervalMs: 250 });
  const page = { url: `${viewer}/traces/${traceId}`, click: pictured.span, width: 1_400, height: 1_000 };
  const picture = sharp(await photograph(page)).png({ palette: true, colours: 64, effort: 10 });
  await writeFile(join(root, 'docs/why.png'), await picture.toBuffer());
}
