import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Configuration, isLoopback } from '../config';
import { ProblemError } from '../errors';
import { inTurn } from '../http/in-turn';
import { loopbackRefusal } from '../http/loopback-guard';
import { hostFault } from '../http/url-guard';
import { Metrics } from './metrics';
import { Readiness } from './readiness';

interface MonitoringAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const TEXT = 'text/plain; charset=utf-8';
const OK: MonitoringAnswer = { status: 200, type: TEXT, body: 'ok\n' };

/**
 * Answers the health probes and the metrics on a port of their own, without credentials. Workers have no other port. On
 * loopback, refuses requests from web pages.
 */
@Injectable()
export class MonitoringServer implements OnApplicationShutdown {
  private server: Server | null = null;

  constructor(
    private readonly configuration: Configuration,
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  /** Listens on `MONITORING_PORT` and returns the port; null if it is not set. Rejects when the port is taken. */
  async listen(): Promise<number | null> {
    const { monitoringPort, host } = this.configuration;
    if (monitoringPort === null) return null;
    this.server = createServer(
      inTurn((request, response) => {
        void this.answer(request).then((answer) => send(response, answer));
      }),
    );
    this.server.listen(monitoringPort, host);
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  /** Runs last in a shutdown. Until then, probes get the answer that the process is not ready. */
  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async answer(request: IncomingMessage): Promise<MonitoringAnswer> {
    const fault = hostFault(request);
    if (fault !== null) return { status: 400, type: TEXT, body: `${fault}\n` };
    // Some probes send no Host. Browsers always send it.
    const isGuarded = isLoopback(this.configuration.host) && request.headers.host !== undefined;
    const refusal = isGuarded ? loopbackRefusal(request) : null;
    if (refusal !== null)
      return { status: 403, type: TEXT, body: `${refusal.occurrence.detail}\n` };
    const { method, url = '/' } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      return { status: 405, type: TEXT, body: 'Only GET is answered here.\n' };
    }
    switch (url.split('?', 1)[0]) {
      case '/health/live':
        return OK;
      case '/health/ready':
        return answerUnavailableOnError(() => this.readiness.check().then(() => OK));
      case '/metrics':
        return answerUnavailableOnError(() => this.readMetrics());
      default:
        return { status: 404, type: TEXT, body: 'Try /health/live, /health/ready or /metrics.\n' };
    }
  }

  private async readMetrics(): Promise<MonitoringAnswer> {
    const { registry } = this.metrics;
    return { status: 200, type: registry.contentType, body: await registry.metrics() };
  }
}

async function answerUnavailableOnError(
  work: () => Promise<MonitoringAnswer>,
): Promise<MonitoringAnswer> {
  try {
    return await work();
  } catch (error) {
    const detail = error instanceof ProblemError ? error.occurrence.detail : String(error);
    return { status: 503, type: TEXT, body: `${detail}\n` };
  }
}

function send(response: ServerResponse, { status, type, body }: MonitoringAnswer): void {
  response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body);
}
