import { trace } from '@opentelemetry/api';
import { pino } from 'pino';
import { alsoExported } from './telemetry/exported-lines.ts';
import type { DestinationStream, Logger } from 'pino';

export type { Logger } from 'pino';

/**
 * JSON log on stdout, and by OTLP where logs are exported. Levels by duty: error = someone must act, warn = heals
 * itself, info = a business fact, debug = detail. The active trace is added to every line; headers and anything called
 * secret, password, token or url are redacted.
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
        ],
        censor: '***',
      },
      mixin: traceOfLine,
    },
    destination ?? alsoExported(pino.destination({ fd: 1, sync: false })),
  );
}

function traceOfLine(): Record<string, string> {
  const context = trace.getActiveSpan()?.spanContext();
  return context ? { trace_id: context.traceId, span_id: context.spanId } : {};
}
