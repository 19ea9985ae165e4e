### From a deployment to the calculators: in its state, or in the nearest with what it lacks.

they-do-not-know-experts = 计算器不含主机侧的专家：初始状态中，专家全部在卡上。
they-do-not-hold-all = 计算器不含它的全部输入：从最接近的状态开始。
they-do-not-take-its = 计算器在此卡上不含“{ $asked }”精度：改从“{ $other }”开始。
