import { isSpanContextValid, trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { alsoExported } from './telemetry/exported-lines.ts';
import type { DestinationStream, Logger } from 'pino';
import { factsOf } from './upstream/upstream-facts.ts';

export type { Logger } from 'pino';

/**
 * JSON log on stdout, and by OTLP where logs are exported. Levels by duty: error = someone must act, warn = heals
 * itself, info = a business fact, debug = detail. The active trace is added to every line; headers, anything called
 * secret, password, token or url, and values of rows in errors of PostgreSQL are redacted.
 */
export function createLogger(name: string, level = 'info', destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: { service: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [
          'authorization',
          '*.authorization',
          'password',
          '*.password',
          'secret',
          '*.secret',
          'token',
          '*.token',
          '*.stream_url',
          'stream_url',
          ...valuesOfRows,
        ],
        censor: '***',
      },
      mixin: traceOfLine,
      serializers: { err: errorOfLine },
    },
    destination ?? alsoExported(pino.destination({ fd: 1, sync: false })),
  );
}

/** What a driver adds to an error that holds values of rows: bindings of statements, and what PostgreSQL quotes. */
const valuesOfRows = ['bindings', 'detail', 'where'].flatMap((name) => [
  `err.${name}`,
  `err.aggregateErrors[*].${name}`,
]);

/** An error as it is logged, with what is known of the call to an upstream that it ended. */
function errorOfLine(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const upstream = factsOf(error);
  return { ...pino.stdSerializers.err(error), ...(upstream && { upstream }) };
}

function traceOfLine(): Record<string, string> {
  const context = trace.getActiveSpan()?.spanContext();
  return context && isSpanContextValid(context) ? { trace_id: context.traceId, span_id: context.spanId } : {};
}
