import { Global, Module } from '@nestjs/common';
import { Configuration } from '../config';
import { OutboundHttp } from './outbound-http';
import { HostResolver, resolverFor } from './resolver';
import type { OutboundPolicy } from './target';

export function webhookPolicy(configuration: Configuration): OutboundPolicy {
  return {
    allowPrivateNetworks: configuration.webhooksAllowPrivateNetworks,
    allowedPorts: configuration.webhooksAllowedPorts,
  };
}

@Global()
@Module({
  providers: [
    {
      provide: OutboundHttp,
      inject: [Configuration, HostResolver],
      useFactory: (configuration: Configuration, resolver: HostResolver) =>
        new OutboundHttp(webhookPolicy(configuration), resolver),
    },
    {
      provide: HostResolver,
      inject: [Configuration],
      useFactory: (configuration: Configuration) => resolverFor(webhookPolicy(configuration)),
    },
  ],
  exports: [OutboundHttp],
})
export class OutboundModule {}
