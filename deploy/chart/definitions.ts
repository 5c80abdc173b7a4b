import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Schema } from './custom-kinds.ts';
import { strimziDefinitions } from './strimzi.ts';
import { run } from './tools.ts';

/** A Go module whose files hold the definitions of an operator's kinds. */
interface Source {
  module: string;
  version: string;
  /** The checksum of the module, as in a go.sum. */
  sum: string;
  files: string;
}

const sources: Source[] = [
  {
    module: 'sigs.k8s.io/gateway-api',
    version: 'v1.2.1',
    sum: 'h1:fZZ/+RyRb+Y5tGkwxFKuYuSRQHu9dZtbjenblleOLHM=',
    files: 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    files: 'example/prometheus-operator-crd/monitoring.coreos.com_{podmonitors,prometheusrules}.yaml',
  },
  {
    module: 'github.com/kedacore/keda/v2',
    version: 'v2.21.0',
    sum: 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=',
    files: 'config/crd/bases/keda.sh_{scaledobjects,triggerauthentications}.yaml',
  },
  {
    module: 'github.com/cloudnative-pg/cloudnative-pg',
    version: 'v1.27.0',
    sum: 'h1:mp0zlYO4vKAJmQdArWORWKr1lmB4Hj8JeBQGX5RBnpg=',
    files: 'config/crd/bases/postgresql.cnpg.io_{clusters,databases,scheduledbackups}.yaml',
  },
];

interface Definition {
  spec: {
    group: string;
    names: { kind: string };
    versions: { name: string; schema: { openAPIV3Schema: Schema } }[];
  };
}

/** Schemas of kinds that are not Kubernetes' own, by `apiVersion/kind`; downloaded once per machine. */
export function readDefinitions(): Map<string, Schema> {
  const files = [...sources.flatMap(filesOf), ...strimziDefinitions()];
  const versions = files
    .flatMap(definitionsIn)
    .flatMap(({ spec: { group, names, versions } }) =>
      versions.map(({ name, schema }) => [`${group}/${name}/${names.kind}`, schema.openAPIV3Schema] as const),
    );
  return new Map(versions);
}

const definitionsIn = (file: string): Definition[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Definition);

/** @throws Error when the checksum of the module is not the expected one. */
function filesOf({ module, version, sum, files }: Source): string[] {
  const answer = run('go', ['mod', 'download', '-json', `${module}@${version}`], { cwd: '/' });
  const { Dir, Sum } = JSON.parse(answer) as { Dir: string; Sum: string };
  if (Sum !== sum) throw new Error(`${module}@${version} has the checksum ${Sum}, not ${sum}: it was changed.`);
  const found = globSync(join(Dir, files));
  if (found.length === 0) throw new Error(`${module}@${version} has no ${files}`);
  return found;
}
