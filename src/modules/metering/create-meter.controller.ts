import { Body, Controller, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Operation, withETag } from '../../platform/http';
import {
  CreateMeterDto,
  MeterDto,
  meterKeyTaken,
  meterTermsContradict,
  toMeterDto,
  tooManyMeters,
  toMeterTerms,
} from '../meters';
import { CreateMeterService } from './create-meter.service';

@ApiTags('Meters')
@Controller('v1/meters')
export class CreateMeterController {
  constructor(private readonly creation: CreateMeterService) {}

  @Post()
  @Operation({
    summary: 'Create a meter',
    description:
      'Turns the events of one name into a number for each customer. Events stored before are counted too: in the same ' +
      'commit if they are few and nobody is storing others, and in the background otherwise. The meter is then ' +
      '`backfilling`, and shows its progress, until it is `active`. What it counts never changes.',
    access: 'catalog:write',
    status: 201,
    answer: MeterDto,
    reads: 'post',
    key: 'optional',
    problems: [meterTermsContradict, tooManyMeters, meterKeyTaken],
  })
  async createMeter(@Body() body: CreateMeterDto): Promise<MeterDto> {
    return withETag(await this.creation.create(toMeterTerms(body)), toMeterDto);
  }
}
