import { Global, Module } from '@nestjs/common';
import { Configuration } from '../config';
import { OutboundHttp } from './outbound-http';
import { DnsResolver, HostResolver, SystemResolver } from './resolver';

@Global()
@Module({
  providers: [
    OutboundHttp,
    {
      provide: HostResolver,
      inject: [Configuration],
      // Private names are resolved by the hosts file or the local network.
      useFactory: ({ webhooksAllowPrivateNetworks }: Configuration): HostResolver =>
        webhooksAllowPrivateNetworks ? new SystemResolver() : new DnsResolver(),
    },
  ],
  exports: [OutboundHttp],
})
export class OutboundModule {}
