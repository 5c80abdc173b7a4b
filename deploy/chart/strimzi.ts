import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { jarsOf } from '../local/jars.ts';
import { readSettings, say } from '../local/settings.ts';
import { run } from './tools.ts';

/** Strimzi publishes no files with its definitions; it has a program that writes them from its classes. */
const GENERATOR = 'io.strimzi.crdgenerator.CrdGenerator';
const KINDS = ['kafka.Kafka', 'nodepool.KafkaNodePool', 'topic.KafkaTopic', 'user.KafkaUser'];
const LEAST_JAVA = 21;
/** SHA-256 of the jars that the definitions come from. */
const CHECKSUMS: Record<string, string> = {
  'api-1.2.0.jar': '566961ae5e5646a001ae91312beda5cba3a5d467e740e205e1b761754335fe4e',
  'crd-generator-1.2.0.jar': '76bb2430e702a1e6a24c071d26c865d5e9572cbc630d176d3b912033ae23ed00',
};

/** Files with the definitions of Strimzi; none, and a line that says so, where Java is too old for its program. */
export function strimziDefinitions(): string[] {
  const java = process.env['JAVA_HOME'] ? join(process.env['JAVA_HOME'], 'bin/java') : 'java';
  const version = Number(/version "(\d+)/.exec(spawnSync(java, ['-version'], { encoding: 'utf8' }).stderr)?.[1]);
  if (!(version >= LEAST_JAVA)) {
    say('strimzi', `not compared: needs Java ${LEAST_JAVA} (JAVA_HOME may name one)`);
    return [];
  }
  const jars = jarsOf(readSettings(), 'strimzi', join(import.meta.dirname, 'strimzi'));
  for (const [name, checksum] of Object.entries(CHECKSUMS)) compare(join(jars, name), checksum);
  return globSync(join(written(java, jars), '*.yaml'));
}

function written(java: string, jars: string): string {
  const folder = `${jars}-definitions`;
  if (existsSync(folder)) return folder;
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh);
  const files = KINDS.map((kind) => `io.strimzi.api.kafka.model.${kind}=${join(fresh, `${kind}.yaml`)}`);
  run(java, ['-cp', join(jars, '*'), GENERATOR, '--yaml', ...files]);
  renameSync(fresh, folder);
  return folder;
}

function compare(file: string, wanted: string): void {
  const found = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (found !== wanted) throw new Error(`${file} has the checksum ${found}, not ${wanted}: it was changed.`);
}
