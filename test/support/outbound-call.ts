import { Configuration } from '../../src/platform/config';
import { OutboundError, OutboundHttp } from '../../src/platform/outbound';
import { webhookPolicy } from '../../src/platform/outbound/outbound.module';
import { SystemResolver } from '../../src/platform/outbound/resolver';

/** The result of the single call that the process makes, printed as JSON. */
export type CallReport = { readonly status: number } | { readonly reason: string };

/**
 * Runs in a process of its own, because some settings are read from the environment when Node.js starts. Argument: the
 * URL.
 */
async function call(url: string): Promise<CallReport> {
  const configuration = new Configuration({ WEBHOOKS_ALLOW_PRIVATE_NETWORKS: 'true' });
  const http = new OutboundHttp(webhookPolicy(configuration), new SystemResolver());
  try {
    const request = { url, headers: {}, body: '{}', deadlineMs: 10_000, keepBytes: 100 };
    const { status } = await http.post(request);
    return { status };
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { reason: error.reason };
  } finally {
    http.close();
  }
}

void call(process.argv[2] ?? '').then((report) => process.stdout.write(JSON.stringify(report)));
