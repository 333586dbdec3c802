import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { answerJobs } from '../support/channel';
import { lineOf, type SenderJob } from '../support/usage';

/**
 * Reports usage: in JSON lists if `perRequest` is at most 1,000, otherwise in bodies of NDJSON. All bodies are prepared
 * before the measurement.
 */

const MAX_EVENTS_OF_A_LIST = 1_000;

interface Body {
  readonly type: string;
  readonly bytes: Buffer;
  readonly events: number;
}

function bodiesOf({ shape, run, first, events, perRequest }: SenderJob): readonly Body[] {
  const bodies: Body[] = [];
  for (let done = 0; done < events; done += perRequest) {
    const count = Math.min(perRequest, events - done);
    const lines = Array.from({ length: count }, (_, at) => lineOf(shape, run, first + done + at));
    const isList = perRequest <= MAX_EVENTS_OF_A_LIST;
    bodies.push({
      type: isList ? 'application/json' : 'application/x-ndjson',
      bytes: Buffer.from(isList ? `{"events":[${lines.join(',')}]}` : `${lines.join('\n')}\n`),
      events: count,
    });
  }
  return bodies;
}

async function send(agent: Agent, port: number, body: Body): Promise<void> {
  const headers = { 'Content-Type': body.type, 'Content-Length': body.bytes.length };
  const request = httpRequest({ agent, port, method: 'POST', path: '/v1/usage-events', headers });
  request.end(body.bytes);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const answer = await text(response);
  const { accepted } = JSON.parse(answer) as { readonly accepted?: number };
  if (accepted !== body.events)
    throw new Error(`Of ${body.events} events: ${answer.slice(0, 500)}`);
}

/** Returns events per second. */
answerJobs(async (job: SenderJob): Promise<number> => {
  const bodies = [...bodiesOf(job)].reverse();
  const agent = new Agent({ keepAlive: true, maxSockets: job.connections });
  const startedAt = performance.now();
  const sendSome = async (): Promise<void> => {
    for (let body = bodies.pop(); body !== undefined; body = bodies.pop()) {
      await send(agent, job.port, body);
    }
  };
  await Promise.all(Array.from({ length: job.connections }, sendSome));
  const tookMs = performance.now() - startedAt;
  agent.destroy();
  return (job.events * 1_000) / tookMs;
});
