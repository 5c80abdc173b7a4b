import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { dashboardFiles } from '../deploy/dashboards/all.ts';
import { asyncApi } from './docs/async-api.ts';
import { chartFacts } from './docs/chart/facts.ts';
import { chartReadme } from './docs/chart/readme.ts';
import { chartSchema } from './docs/chart/schema.ts';
import { untrueClaims } from './docs/claims.ts';
import { clientTypes } from './docs/client-types.ts';
import { environmentList } from './docs/environment.ts';
import { logIndex } from './docs/log-index.ts';
import { metricsDocument } from './docs/metrics.ts';
import { oldPhrases } from './docs/phrases.ts';
import { openApiDocuments } from './docs/open-api.ts';
import { securityReport } from './docs/security.ts';
import { commandReference } from './docs/visionctl.ts';
import { stopTimesDocument } from './docs/stop-times.ts';
import { assertAsyncApi } from './docs/validate-async-api.ts';

const root = join(import.meta.dirname, '..');
const isCheck = process.argv.includes('--check');

const openApi = await openApiDocuments(root);
const events = asyncApi(root);
assertAsyncApi(events);

/**
 * Everything that follows from the code, by path. `--check` writes nothing; it fails when a file is stale, when a
 * document names a file, heading, test, metric, setting or log message that does not exist, when one uses a phrase that
 * `docs/phrases.ts` lists, or when the summary of an operation does not begin with a verb of `docs/summaries.ts`.
 */
const files: Record<string, string> = {
  ...openApi,
  'docs/asyncapi.json': JSON.stringify(events),
  'packages/client/src/public-api.ts': await clientTypes(openApi['docs/openapi/public.json'] ?? ''),
  'docs/env.md': await environmentList(root),
  'docs/security.md': securityReport(root),
  'docs/visionctl.md': commandReference(),
  'docs/log-lines.md': logIndex(root),
  'charts/vision/files/facts.json': await chartFacts(root),
  'charts/vision/values.schema.json': await chartSchema(root),
  'charts/vision/README.md': chartReadme(root),
  ...dashboardFiles(),
  'docs/stop-times.json': await stopTimesDocument(root),
};

files['docs/metrics.md'] = await metricsDocument(root, files);

const stale: string[] = [];
for (const [path, content] of Object.entries(files)) {
  const file = join(root, path);
  const wanted = await format(content, { ...(await resolveConfig(file)), filepath: file });
  const found = existsSync(file) ? await readFile(file, 'utf8') : '';
  if (found === wanted) continue;
  stale.push(path);
  if (isCheck) continue;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, wanted);
}

const untrue = isCheck ? await untrueClaims(root) : [];
const phrases = isCheck ? oldPhrases(root) : [];
if (isCheck && stale.length > 0)
  fail(`These files do not follow the code any more; run "npm run docs":\n  ${stale.join('\n  ')}`);
if (untrue.length > 0) fail(`These documents name what does not exist:\n  ${untrue.join('\n  ')}`);
if (phrases.length > 0) fail(`These documents use words that have a plain one:\n  ${phrases.join('\n  ')}`);
if (process.exitCode === undefined)
  console.log(stale.length > 0 ? `written: ${stale.join(', ')}` : 'the documents follow the code');

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
