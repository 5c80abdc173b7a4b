/** One line of what `/metrics` answers. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Scrape {
  samples: Sample[];
  /** Samples by metric, those included that have none yet. */
  families: Map<string, Sample[]>;
}

/** Reads the text format of Prometheus. */
export function readMetrics(text: string): Scrape {
  const samples: Sample[] = [];
  const families = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, family] = /^# TYPE (\S+) /.exec(line) ?? [];
    if (family !== undefined) families.set(family, families.get(family) ?? []);
    if (line === '' || line.startsWith('#')) continue;
    const sample = readSample(line);
    samples.push(sample);
    const owner = [sample.name, sample.name.replace(/_(bucket|count|sum)$/, '')].find((name) => families.has(name));
    if (owner === undefined) throw new Error(`a line without a type: ${line}`);
    families.get(owner)?.push(sample);
  }
  return { samples, families };
}

function readSample(line: string): Sample {
  const [, name = '', inside = '', value = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
  const labels = [...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text]);
  return { name, labels: Object.fromEntries(labels) as Record<string, string>, value: Number(value) };
}
