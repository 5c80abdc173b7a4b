/** The three kinds of telemetry, as the standard variables call them. */
type Signal = 'TRACES' | 'METRICS' | 'LOGS';

/** The exporters that the environment names for a signal; as the specification has it, an empty variable is unset. */
export function exportersOf(env: NodeJS.ProcessEnv, signal: Signal): string[] {
  const names = (env[`OTEL_${signal}_EXPORTER`] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length > 0) return names.includes('none') ? [] : names;
  const endpoint = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  return endpoint ? ['otlp'] : [];
}
