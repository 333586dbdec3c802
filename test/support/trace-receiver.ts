import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received span. */
export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty if the span has no parent: it is the first one of its trace. */
  readonly parentId: string;
  readonly name: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly isError: boolean;
  readonly durationMs: number;
}

/**
 * Value of a field of a protobuf message. A bigint for a varint; otherwise the bytes of a text, a message or a number
 * of fixed length.
 */
type Field = bigint | Buffer;
type Message = ReadonlyMap<number, readonly Field[]>;

function readVarint(bytes: Buffer, start: number): [value: bigint, next: number] {
  let value = 0n;
  for (let at = start, shift = 0n; ; at += 1, shift += 7n) {
    const byte = bytes[at] ?? 0;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return [value, at + 1];
  }
}

/** Reads the fields of a protobuf message, by their numbers. */
function parse(bytes: Buffer): Message {
  const fields = new Map<number, Field[]>();
  for (let at = 0; at < bytes.length;) {
    const [tag, afterTag] = readVarint(bytes, at);
    const wire = Number(tag & 7n);
    let value: Field;
    if (wire === 0) [value, at] = readVarint(bytes, afterTag);
    else {
      const [length, start] =
        wire === 2 ? readVarint(bytes, afterTag) : [wire === 1 ? 8n : 4n, afterTag];
      at = start + Number(length);
      value = bytes.subarray(start, at);
    }
    const number = Number(tag >> 3n);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

const bytesIn = (message: Message, field: number): readonly Buffer[] =>
  (message.get(field) ?? []).filter((value) => typeof value !== 'bigint');
const messagesIn = (message: Message, field: number) => bytesIn(message, field).map(parse);
const textIn = (message: Message, field: number) => bytesIn(message, field)[0]?.toString() ?? '';
const hexIn = (message: Message, field: number) =>
  bytesIn(message, field)[0]?.toString('hex') ?? '';
const numberIn = (message: Message | undefined, field: number) =>
  Number(message?.get(field)?.[0] ?? 0);

function attributesIn(message: Message, field: number): Record<string, string | number> {
  return Object.fromEntries(
    messagesIn(message, field).map((pair) => {
      const value = messagesIn(pair, 2)[0] ?? new Map<number, Field[]>();
      return [textIn(pair, 1), value.has(3) ? numberIn(value, 3) : textIn(value, 1)];
    }),
  );
}

/** Reads an `ExportTraceServiceRequest` of OTLP. */
function spansIn(body: Buffer): readonly ReceivedSpan[] {
  return messagesIn(parse(body), 1).flatMap((resourceSpans) => {
    const [resource] = messagesIn(resourceSpans, 1);
    const service = resource && attributesIn(resource, 1)['service.name'];
    return messagesIn(resourceSpans, 2)
      .flatMap((scope) => messagesIn(scope, 2))
      .map((span) => {
        const [startedAt, endedAt] = [7, 8].map((field) =>
          Number(bytesIn(span, field)[0]?.readBigUInt64LE() ?? 0n),
        );
        return {
          service: String(service),
          traceId: hexIn(span, 1),
          spanId: hexIn(span, 2),
          parentId: hexIn(span, 4),
          name: textIn(span, 5),
          kind: numberIn(span, 6),
          attributes: attributesIn(span, 9),
          isError: numberIn(messagesIn(span, 15)[0], 3) === 2,
          durationMs: ((endedAt ?? 0) - (startedAt ?? 0)) / 1e6,
        };
      });
  });
}

/** A receiver of traces by OTLP over HTTP, on a free port of this machine. */
export class TraceReceiver {
  readonly spans: ReceivedSpan[] = [];
  private answer: (response: ServerResponse) => void = (response) => response.end();
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url === '/v1/traces') this.spans.push(...spansIn(Buffer.concat(chunks)));
      this.answer(response);
    });
  });

  static async start(): Promise<TraceReceiver> {
    const receiver = new TraceReceiver();
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Sets how the next requests are answered. The function may leave them unanswered. */
  behave(answer: (response: ServerResponse) => void): void {
    this.answer = answer;
  }

  named(name: string): readonly ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
