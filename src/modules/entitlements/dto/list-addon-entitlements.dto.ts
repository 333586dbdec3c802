import { ApiProperty } from '@nestjs/swagger';
import { IsNotEmpty, IsString } from 'class-validator';

export class ListAddonEntitlementsDto {
  @IsString()
  @IsNotEmpty()
  @ApiProperty({
    minLength: 1,
    description: 'Id of the add-on.',
    example: 'addon_01h455vb4pex5vsknk084sn02q',
  })
  readonly addon_id!: string;
}
