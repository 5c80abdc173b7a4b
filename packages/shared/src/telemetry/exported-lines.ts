import { logs, SeverityNumber } from '@opentelemetry/api';
import type { AnyValue, Logger } from '@opentelemetry/api';
import type { DestinationStream } from 'pino';

const severities: Record<string, SeverityNumber> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
};

/** Destination of lines that must not be lost. */
export interface LineDestination extends DestinationStream {
  flushSync?: () => void;
}

/**
 * Writes each line to `out` as it is, and passes it to OpenTelemetry when logs are exported. The record is made from
 * the written line, so it has the same redactions. It waits in a separate queue: an unavailable or slow collector
 * causes the loss of records, but never of a line or a request.
 */
export function alsoExported(out: LineDestination): LineDestination {
  const exporter = logs.getLogger('vision');
  return {
    write: (line) => {
      out.write(line);
      if (exporter.enabled()) exportLine(exporter, line);
    },
    flushSync: () => out.flushSync?.(),
  };
}

interface Line extends Record<string, unknown> {
  time?: string;
  level?: string;
  msg?: string;
  err?: { type?: string; message?: string; stack?: string };
}

function exportLine(exporter: Logger, text: string): void {
  try {
    // Resource and record have fields of their own for the first properties of every line.
    const { time, level = 'info', msg, name: _name, service: _service, ...rest } = JSON.parse(text) as Line;
    const { trace_id: _trace, span_id: _span, err, ...facts } = rest;
    exporter.emit({
      timestamp: time === undefined ? Date.now() : Date.parse(time),
      severityNumber: severities[level] ?? SeverityNumber.INFO,
      severityText: level,
      body: msg,
      attributes: { ...(facts as Record<string, AnyValue>), ...exceptionOf(err) },
    });
  } catch {
    // The line is on stdout; telemetry never fails what is being logged.
  }
}

/** An error under the attribute names of OpenTelemetry. */
function exceptionOf(err: Line['err']): Record<string, AnyValue> {
  if (err === undefined) return {};
  const { type, message, stack, ...more } = err;
  return {
    'exception.type': type,
    'exception.message': message,
    'exception.stacktrace': stack,
    ...(Object.keys(more).length > 0 && { err: more }),
  };
}
